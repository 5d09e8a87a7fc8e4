import type { ProjectFiles } from './project-files.js'
import type { ListedFile } from './work-tree.js'

const LISTINGS_KEPT_MAX = 50

// The newest listings of projects, by root.
const listings = new Map<string, readonly ListedFile[]>()
const texts = new WeakMap<readonly ListedFile[], ProjectFiles>()

/** The listing, or the one before if it is equal: what was worked out from an array can be used again for the same array. */
export function reuseListing(root: string, listed: readonly ListedFile[]): readonly ListedFile[] {
  const before = listings.get(root)
  if (before !== undefined && isSameListing(before, listed)) return before
  if (listings.size >= LISTINGS_KEPT_MAX) listings.clear()
  listings.set(root, listed)
  return listed
}

/** The listing that was read along with the tree. */
export function restoreListing(root: string, files: ProjectFiles): readonly ListedFile[] {
  const before = listings.get(root) ?? []
  const text = texts.get(before)
  if (text?.all === files.all && text.links === files.links) return before
  // Known files are the same objects as before: what is remembered about a path is found sooner under the same text.
  const known = new Map(before.map((file) => [file.path, file]))
  const links = new Set(files.links.split('\0'))
  const paths = files.all === '' ? [] : files.all.split('\0')
  const listed = paths.map((path) => {
    const isLink = links.has(path)
    const file = known.get(path)
    return file?.isLink === isLink ? file : { path, isLink }
  })
  const reused = reuseListing(root, listed)
  texts.set(reused, files)
  return reused
}

function isSameListing(before: readonly ListedFile[], now: readonly ListedFile[]): boolean {
  const isSame = ({ path, isLink }: ListedFile, at: number): boolean =>
    now[at]?.path === path && now[at]?.isLink === isLink
  return before.length === now.length && before.every(isSame)
}
