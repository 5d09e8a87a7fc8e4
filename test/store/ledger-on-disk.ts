import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Database, openDatabase } from '../../src/store/database.js'
import { listLedgerFiles } from '../../src/store/ledger-files.js'
import { openSqliteStore } from '../../src/store/sqlite-store.js'
import { removedAtExit } from '../leaving.js'
import { events, newEvent, newTask, sha256, temporaryDirectory } from './events.js'

/** A closed ledger of twelve events in three streams, with checkpoints at events 6 and 12 and one blob. */
export async function ledgerOnDisk(): Promise<string> {
  made ??= makeLedger()
  const dir = temporaryDirectory()
  cpSync(await made, dir, { recursive: true })
  return dir
}

/** Made once for all tests of a process, and copied for each. */
let made: Promise<string> | null = null

async function makeLedger(): Promise<string> {
  const dir = removedAtExit(mkdtempSync(join(tmpdir(), 'phaselock-ledger-')))
  const store = await openSqliteStore({ dir })
  for (let version = 0; version < 4; version += 1) {
    for (const stream of ['task:a', 'task:b', 'system']) {
      const task = stream === 'task:a' ? { task: newTask('a') } : {}
      const blobs = stream === 'system' ? { blobs: [{ sha256: sha256('blob'), content: 'blob' }] } : {}
      const data = { step: version, text: `${stream} ${version}` }
      events(
        await store.append({ stream, expectedVersion: version, events: [newEvent('step', data)], ...task, ...blobs }),
      )
    }
    if (version === 1) await store.writeSeal()
  }
  await store.close()
  return dir
}

/** Changes the database behind the store's back. */
export function tamper(dir: string, change: string | ((database: Database) => void)): void {
  const database = openDatabase(listLedgerFiles(dir).database)
  try {
    if (typeof change === 'string') database.exec(change)
    else change(database)
  } finally {
    database.close()
  }
}

const STORE_FILE = new URL('../../dist/store/sqlite-store.js', import.meta.url).href

/** Runs a program in a process of its own with `openSqliteStore` and `dir` in scope; gives its lines and its end. */
export function runProgram(dir: string, body: string, options: { uid?: number } = {}) {
  const program = `
    const { openSqliteStore } = await import(${JSON.stringify(STORE_FILE)});
    const dir = ${JSON.stringify(dir)};
    const event = (data) => ({ type: 'step', at: 1, actor: 'agent:a', epoch: 1, phase: null, contract: null, data });
    ${body}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...options,
  })
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()))
  return { child, lines: createInterface({ input: child.stdout }), ended }
}
