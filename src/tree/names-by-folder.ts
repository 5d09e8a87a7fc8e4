import { posix } from 'node:path'

/** Each folder of these paths ('.' is the tree itself) with the names in it: it need be opened only once. */
export function groupNamesByFolder(paths: Iterable<string>): ReadonlyMap<string, readonly string[]> {
  const folders = new Map<string, string[]>()
  for (const path of paths) {
    const folder = posix.dirname(path)
    const names = folders.get(folder)
    if (names === undefined) folders.set(folder, [posix.basename(path)])
    else names.push(posix.basename(path))
  }
  return folders
}
