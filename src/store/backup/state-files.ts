import { type Dirent, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeFileAtomically } from '../../base/atomic-file.js'
import { refuseBackup } from './backup-file.js'

/**
 * Files of the state directory that the ledger does not hold and nothing makes again: accepted contracts, work that was
 * put aside, how far webhooks are. Everything else is made again at the next start.
 */
const FOLDERS = ['contracts', 'stashes'] as const
const FILES = ['webhooks.json'] as const
const DEPTH_MAX = 8

export interface StateFile {
  /** Below the state directory. */
  readonly path: string
  readonly content: Buffer
}

export function* readStateFiles(dir: string): Generator<StateFile> {
  for (const name of FILES) if (isFile(join(dir, name))) yield* readOne(dir, name)
  for (const name of FOLDERS) yield* readFolder(dir, name, 0)
}

function* readFolder(dir: string, path: string, depth: number): Generator<StateFile> {
  if (depth > DEPTH_MAX || lstatSync(join(dir, path), { throwIfNoEntry: false })?.isDirectory() !== true) return
  for (const entry of listFolder(join(dir, path))) {
    const below = join(path, entry.name)
    if (entry.isDirectory()) yield* readFolder(dir, below, depth + 1)
    else if (entry.isFile() && !entry.name.endsWith('.tmp')) yield* readOne(dir, below)
  }
}

// The server goes on: what is gone by now was put back or dropped.
function* readOne(dir: string, path: string): Generator<StateFile> {
  try {
    yield { path, content: readFileSync(join(dir, path)) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

function listFolder(path: string): readonly Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

const SAFE_PATH = /^(?:contracts|stashes|checkpoints)(?:\/[\w@.-]{1,255}){1,10}$/

export function writeStateFile(dir: string, { path, content }: StateFile): void {
  const isKnown = (FILES as readonly string[]).includes(path) || SAFE_PATH.test(path)
  if (!isKnown || path.split('/').some((name) => name === '..' || name === '.'))
    throw refuseBackup(`It holds a file that does not belong into a state directory (${JSON.stringify(path)})`)
  mkdirSync(dirname(join(dir, path)), { recursive: true, mode: 0o700 })
  writeFileAtomically(join(dir, path), content)
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true
}
