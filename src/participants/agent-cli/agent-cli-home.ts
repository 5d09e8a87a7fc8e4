import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { PreparedHome } from './agent-cli-recipes.js'

/** The private folder of a running agent. */
export interface HarnessHome {
  /** Holds the three below. */
  readonly dir: string
  readonly home: string
  /** Where it works; empty. */
  readonly work: string
  readonly temporary: string
  remove(): void
}

const PREFIX = 'phaselock-agent-'
const PRIVATE_FOLDER = 0o700
const PRIVATE_FILE = 0o600

/** A new folder that nobody else can read. Folders of killed servers are removed: they contain tokens. */
export function makeHome(parent: string = tmpdir()): HarnessHome {
  sweep(parent)
  const dir = realpathSync(mkdtempSync(join(parent, `${PREFIX}${process.pid}-`)))
  const [home, work, temporary] = ['home', 'work', 'tmp'].map((name) => {
    const path = join(dir, name)
    mkdirSync(path, { mode: PRIVATE_FOLDER })
    return path
  }) as [string, string, string]
  return { dir, home, work, temporary, remove: () => rmSync(dir, { recursive: true, force: true }) }
}

export function fillHome(home: string, files: PreparedHome['files']): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true, mode: PRIVATE_FOLDER })
    writeFileSync(join(home, path), text, { mode: PRIVATE_FILE, flag: 'wx' })
  }
}

function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = /^phaselock-agent-(\d+)-\w+$/.exec(name) ?? []
    if (pid === undefined || existsSync(`/proc/${pid}`) || !isOwn(join(parent, name))) continue
    rmSync(join(parent, name), { recursive: true, force: true })
  }
}

// A folder of that name that another user made is left alone, even if the server could remove it.
function isOwn(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && stats.uid === process.getuid?.()
}
