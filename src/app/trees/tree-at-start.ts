import { closeSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sha256Hex } from '../../base/sha256.js'
import type { Contract } from '../../core/contract/contract.js'
import type { TaskState } from '../../core/task/state.js'
import type { TreeAtStart } from '../../participants/agent-cli/command-at-start.js'
import { findFileHash } from '../../tree/find-file-hash.js'
import { openFile } from '../../tree/lookup.js'
import { readBytes } from '../../tree/read-bytes.js'
import type { TreeIndex } from '../../tree/tree-contents.js'
import { isTargetInside } from '../../tree/write/tree-steps.js'
import type { Resources } from '../resources.js'
import { getReserved, isHiddenBy, type Places } from '../tool-calls/contract-paths.js'
import { findContentByHash } from './reconcile.js'
import { WORK_BEGAN } from './trees.js'

const FILES_MAX = 50_000
const BYTES_MAX = 512 * 1024 * 1024
// Modes are not recorded, and the implementer must not decide which programs of the tree are executable.
const RIGHTS = 0o755

type StartApp = Pick<Resources, 'trees' | 'confinement'> & Places

/** The work tree of a task as it was when work began, without paths hidden from agents. */
export function makeTreeAtStart(app: StartApp, contract: Contract, state: TaskState): TreeAtStart {
  const tree = state.workspace
  const start = app.trees.readMark(tree, state.id, WORK_BEGAN)
  const isHidden = isHiddenBy(getReserved(app, contract, tree))
  return {
    tree,
    had: (path) => {
      if (start !== null) return !isHidden(path) && isCopied(path, start.entries[path] ?? '')
      return isThere(tree, path) ? null : false
    },
    copyTo: (folder) =>
      start === null ? Promise.resolve(NOT_KNOWN) : copyTree(app, { tree, start, folder, isHidden }),
  }
}

const NOT_KNOWN = 'the work tree as it was at the start of the task was not recorded'

interface Copying {
  readonly tree: string
  readonly start: TreeIndex
  readonly folder: string
  readonly isHidden: (path: string) => boolean
}

async function copyTree(app: StartApp, { tree, start, folder, isHidden }: Copying): Promise<string | null> {
  const entries = Object.entries(start.entries).filter(([path]) => !isHidden(path))
  if (entries.length > FILES_MAX) return `the work tree has ${entries.length} files, more than ${FILES_MAX}${OUTSIDE}`
  let bytes = 0
  const made = new Set<string>()
  for (const [path, what] of entries) {
    const sha256 = findFileHash(what)
    if (sha256 === null) continue
    const content = await readAtStart(app, { tree, path, sha256 }, BYTES_MAX - bytes)
    if (content === null) return `the content of ${JSON.stringify(path)} at the start of the task was not recorded`
    bytes += content.length
    if (bytes > BYTES_MAX) return `the work tree has more than ${BYTES_MAX / 1024 / 1024} MiB${OUTSIDE}`
    const to = join(folder, path)
    if (!made.has(dirname(to))) await mkdir(dirname(to), { recursive: true })
    made.add(dirname(to))
    await writeFile(to, content, { mode: RIGHTS, flag: 'wx' })
  }
  // After the files, so that none of them is written through a link.
  for (const [path, what] of entries) {
    const target = parseTarget(what)
    if (!isTargetInside(path, target)) continue
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await symlink(target, join(folder, path))
  }
  return null
}

const OUTSIDE = '; name a reviewer outside the work tree by its absolute path'

/** Unchanged files are read from the tree, and count only if their hash matches. */
async function readAtStart(
  app: StartApp,
  one: { readonly tree: string; readonly path: string; readonly sha256: string },
  bytesMax: number,
): Promise<Buffer | null> {
  const opened = openFile(one.tree, one.path)
  if (opened.ok) {
    try {
      const now = await readBytes(opened.fd, bytesMax + 1)
      if (sha256Hex(now) === one.sha256) return now
    } finally {
      closeSync(opened.fd)
    }
  }
  return findContentByHash(app, one)
}

function isThere(tree: string, path: string): boolean {
  const opened = openFile(tree, path)
  if (opened.ok) closeSync(opened.fd)
  return opened.ok
}

function isCopied(path: string, what: string): boolean {
  return findFileHash(what) !== null || isTargetInside(path, parseTarget(what))
}

function parseTarget(what: string): string {
  return /^link (.+)$/s.exec(what)?.[1] ?? ''
}
