import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { writeFileAtomically } from '../../base/atomic-file.js'

const PREFIX = 'phaselock-session-'
const PRIVATE_FOLDER = 0o700
const PRIVATE_FILE = 0o600

/** The configuration of a session, in a folder that nobody else can read. */
export interface PrivateFolder {
  readonly path: string
  /** A path that ends with `/` is made as a folder. */
  write(files: Readonly<Record<string, string>>): void
  /** Replaces a file of the folder at once. */
  replace(name: string, text: string): void
  remove(): void
}

/** Makes the folder. Folders of killed sessions are removed. */
export function makePrivateFolder(parent: string = tmpdir()): PrivateFolder {
  sweep(parent)
  const path = realpathSync(mkdtempSync(join(parent, `${PREFIX}${process.pid}-`)))
  return {
    path,
    write: (files) => {
      for (const [name, text] of Object.entries(files)) {
        const isFolder = name.endsWith('/')
        mkdirSync(isFolder ? join(path, name) : dirname(join(path, name)), { recursive: true, mode: PRIVATE_FOLDER })
        if (isFolder) continue
        writeFileSync(join(path, name), text, { mode: PRIVATE_FILE, flag: 'wx' })
      }
    },
    replace: (name, text) => writeFileAtomically(join(path, name), text),
    remove: () => rmSync(path, { recursive: true, force: true }),
  }
}

function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = /^phaselock-session-(\d+)-\w+$/.exec(name) ?? []
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue
    const stats = statSync(join(parent, name), { throwIfNoEntry: false })
    // A folder of that name that another user made is left alone.
    if (stats?.uid === process.getuid?.()) rmSync(join(parent, name), { recursive: true, force: true })
  }
}
