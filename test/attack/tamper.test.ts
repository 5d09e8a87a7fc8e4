import { createSecretKey, randomBytes } from 'node:crypto'
import { copyFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../src/store/database.js'
import { EVENT_COLUMNS } from '../../src/store/wire.js'
import { computeEventHash, FIRST_PREV_HASH } from '../../src/store/write/chain.js'
import { built, Place, type Server } from '../cli/program.js'
import { tamper } from '../store/ledger-on-disk.js'

const CONTRACT = `
name: short
version: "1"
phases:
  - {id: A, allowed_tools: [read_files]}
  - {id: B, allowed_tools: []}
`
const EVENT = 'seq, stream, version, type, at, actor, epoch, phase, contract, data, prev_hash, hash'

const place = new Place()
let original: string
let older: string

async function call(server: Server, path: string, token: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(`${server.url}/api/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const given = (await answer.json()) as Record<string, unknown>
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(given)}`)
  return given
}

/** Takes one task from its creation to its end. */
async function work(server: Server, id: string): Promise<void> {
  const operator = readFileSync(join(server.stateDir, 'operator.token'), 'utf8').trim()
  await call(server, '/tasks', operator, { id, title: `Task ${id}` })
  const { agent_token } = await call(server, '/agents', operator, { agent_id: `agent-${id}` })
  const claimed = await call(server, '/tasks/claim', String(agent_token), { agent_id: `agent-${id}`, task_id: id })
  const token = String(claimed.phase_token)
  for (const path of ['one', 'two', 'three'])
    await call(server, '/tools/check', token, { task_id: id, tool_name: 'read_files', args: { path } })
  await call(server, '/tasks/transition', token, { task_id: id, target_phase: 'B' })
}

async function stopped(server: Server, signal: NodeJS.Signals): Promise<void> {
  server.kill(signal)
  await server.ended
}

let copies = 0
function copyOf(dir: string): string {
  copies += 1
  const copy = join(place.home, `copy-${copies}`)
  cpSync(dir, copy, { recursive: true })
  return copy
}

async function verify(dir: string) {
  const ended = await place.run(['audit', 'verify', '--state-dir', dir, '--json'])
  const report = JSON.parse(ended.stdout) as {
    ok: boolean
    problems: { code: string; detail: string; seq: number | null }[]
  }
  return { code: ended.code, ok: report.ok, first: report.problems[0], codes: report.problems.map((one) => one.code) }
}

/** An event in the middle that has a phase and a contract. */
function middle(database: Database): number {
  const row = database
    .prepare("SELECT seq FROM event WHERE phase IS NOT NULL AND type = 'tool_allowed' ORDER BY seq")
    .get()
  return Number(row?.seq)
}

function last(database: Database): number {
  return Number(database.prepare('SELECT max(seq) AS seq FROM event').get()?.seq)
}

beforeAll(async () => {
  await built()
  writeFileSync(join(place.work, 'agent_workflow.yaml'), CONTRACT)
  const first = await place.serve()
  await work(first, 'one')
  await stopped(first, 'SIGTERM')
  older = copyOf(first.stateDir)
  const second = await place.serve()
  await work(second, 'two')
  await stopped(second, 'SIGTERM')
  original = second.stateDir
})

describe('a ledger that nobody touched', () => {
  it('[REQ-ATTACK-9] verifies after a stop, and its copies do', async () => {
    expect(await verify(original)).toMatchObject({ code: 0, ok: true, codes: [] })
    expect(await verify(older)).toMatchObject({ code: 0, ok: true, codes: [] })
    expect(await verify(copyOf(original))).toMatchObject({ code: 0, ok: true, codes: [] })
    const text = await place.run(['audit', 'verify', '--state-dir', original])
    expect(text).toMatchObject({ code: 0, stdout: expect.stringContaining('The ledger is intact') })
  })

  it('[REQ-ATTACK-9] verifies after kill -9 in the middle of work, and again after the next start and stop', async () => {
    const dir = copyOf(original)
    const server = await place.serve(['--state-dir', dir])
    const busy = Promise.allSettled(['k1', 'k2', 'k3', 'k4'].map((id) => work(server, id)))
    await new Promise((resolve) => setTimeout(resolve, 60))
    await stopped(server, 'SIGKILL')
    await busy
    expect(await verify(dir)).toMatchObject({ code: 0, ok: true, codes: [] })
    const again = await place.serve(['--state-dir', dir])
    await work(again, 'after')
    await stopped(again, 'SIGTERM')
    expect(await verify(dir)).toMatchObject({ code: 0, ok: true, codes: [] })
  })
})

describe.concurrent('one changed column of an event in the middle', () => {
  const changes: Readonly<Record<string, string>> = {
    stream: "stream = 'task:zwei'",
    version: 'version = version + 50',
    type: "type = 'tool_denied'",
    at: 'at = at + 1',
    actor: "actor = 'agent:eve'",
    epoch: 'epoch = epoch + 1',
    phase: "phase = 'B'",
    contract: "contract = 'f' || substr(contract, 2)",
    data: `data = replace(data, '"read_files"', '"read_filez"')`,
    prev_hash: `prev_hash = CASE substr(prev_hash, 1, 1) WHEN '0' THEN '1' ELSE '0' END || substr(prev_hash, 2)`,
    hash: `hash = CASE substr(hash, 1, 1) WHEN '0' THEN '1' ELSE '0' END || substr(hash, 2)`,
  }
  it.for(Object.entries(changes))(
    '[REQ-ATTACK-10] %s: the event is named, and the exit code is 1',
    async ([, change], context) => {
      const dir = copyOf(original)
      let seq = 0
      tamper(dir, (database) => {
        seq = middle(database)
        context
          .expect(database.prepare(`UPDATE event SET ${change} WHERE seq = ?`).run(seq))
          .toMatchObject({ changes: 1 })
      })
      context.expect(await verify(dir)).toMatchObject({ code: 1, ok: false, first: { code: 'changed_event', seq } })
    },
  )

  it('[REQ-ATTACK-10] seq: the missing number is named', async ({ expect }) => {
    const dir = copyOf(original)
    let seq = 0
    tamper(dir, (database) => {
      seq = middle(database)
      database.prepare('UPDATE event SET seq = 9999 WHERE seq = ?').run(seq)
    })
    expect(await verify(dir)).toMatchObject({ code: 1, first: { code: 'missing_event', seq } })
  })
})

function recompute(database: Database, key: Buffer): void {
  const ends = new Map<string, string>()
  for (const row of database.prepare(`SELECT ${EVENT_COLUMNS} FROM event ORDER BY seq`).all()) {
    const prevHash = ends.get(String(row.stream)) ?? FIRST_PREV_HASH
    const columns = { ...row, dataText: row.data, prevHash } as unknown as Parameters<typeof computeEventHash>[1]
    const hash = computeEventHash(createSecretKey(key), columns)
    database.prepare('UPDATE event SET prev_hash = ?, hash = ? WHERE seq = ?').run(prevHash, hash, Number(row.seq))
    ends.set(String(row.stream), hash)
  }
}

function putBack(dir: string, names: readonly string[]): void {
  for (const suffix of ['-wal', '-shm']) rmSync(join(dir, `ledger.db${suffix}`), { force: true })
  for (const name of names) copyFileSync(join(older, name), join(dir, name))
}

function rowsOf(dir: string): readonly unknown[] {
  let rows: readonly unknown[] = []
  tamper(dir, (database) => {
    rows = database.prepare(`SELECT ${EVENT} FROM event ORDER BY seq`).all()
  })
  return rows
}

interface Attack {
  readonly name: string
  readonly attack: (dir: string) => void
  readonly found: string
  /** Whether the server must refuse to start at once; the others are found while it runs. */
  readonly isRefused: boolean
}

const ATTACKS: readonly Attack[] = [
  {
    name: 'two swapped rows',
    attack: (dir) =>
      tamper(dir, (database) => {
        const seq = middle(database)
        for (const [from, to] of [
          [seq, 9999],
          [seq + 1, seq],
          [9999, seq + 1],
        ] as const)
          database.prepare('UPDATE event SET seq = ? WHERE seq = ?').run(to, from)
      }),
    found: 'changed_event',
    isRefused: false,
  },
  {
    name: 'a row deleted in the middle',
    attack: (dir) =>
      tamper(dir, (database) => database.prepare('DELETE FROM event WHERE seq = ?').run(middle(database))),
    found: 'missing_event',
    isRefused: false,
  },
  {
    name: 'an inserted row, those after it moved up',
    attack: (dir) =>
      tamper(dir, (database) => {
        const seq = middle(database)
        database.exec(`UPDATE event SET seq = -seq - 1 WHERE seq > ${seq}; UPDATE event SET seq = -seq WHERE seq < 0;
          INSERT INTO event (${EVENT}) SELECT ${seq + 1}, stream, version + 70, type, at, actor, epoch, phase, contract,
          data, prev_hash, hash FROM event WHERE seq = ${seq}`)
      }),
    found: 'changed_event',
    isRefused: true,
  },
  {
    name: 'an event added at the end without the key',
    attack: (dir) =>
      tamper(
        dir,
        `INSERT INTO event (${EVENT}) SELECT seq + 1, stream, version + 1, type, at, actor, epoch, phase,
        contract, data, hash, '${'a'.repeat(64)}' FROM event ORDER BY seq DESC LIMIT 1`,
      ),
    found: 'changed_event',
    isRefused: true,
  },
  {
    name: 'only the newest event cut off',
    attack: (dir) => tamper(dir, (database) => database.prepare('DELETE FROM event WHERE seq = ?').run(last(database))),
    found: 'cut_tail',
    isRefused: true,
  },
  {
    name: 'the newest ten events cut off',
    attack: (dir) =>
      tamper(dir, (database) => database.prepare('DELETE FROM event WHERE seq > ?').run(last(database) - 10)),
    found: 'cut_tail',
    isRefused: true,
  },
  {
    name: 'a chain recomputed with another key',
    attack: (dir) => tamper(dir, (database) => recompute(database, randomBytes(32))),
    found: 'changed_event',
    isRefused: true,
  },
  {
    name: 'a changed event and a chain recomputed with the stolen key',
    attack: (dir) =>
      tamper(dir, (database) => {
        database.prepare("UPDATE event SET actor = 'agent:eve' WHERE seq = ?").run(middle(database))
        recompute(database, readFileSync(join(dir, 'ledger.key')))
      }),
    found: 'checkpoint_mismatch',
    isRefused: false,
  },
  {
    name: 'an older copy of the database put back',
    attack: (dir) => putBack(dir, ['ledger.db']),
    found: 'cut_tail',
    isRefused: true,
  },
  {
    name: 'an older copy of the database put back with its head',
    attack: (dir) => putBack(dir, ['ledger.db', 'ledger.head']),
    found: 'older_copy',
    isRefused: true,
  },
  { name: 'no head file', attack: (dir) => rmSync(join(dir, 'ledger.head')), found: 'head_missing', isRefused: true },
  {
    name: 'no pointer to the newest checkpoint',
    attack: (dir) => rmSync(join(dir, 'ledger.checkpoint')),
    found: 'checkpoint_missing',
    isRefused: true,
  },
  {
    name: 'the newest checkpoint file gone',
    attack: (dir) => rmSync(join(dir, 'checkpoints', readdirSync(join(dir, 'checkpoints')).sort().at(-1) ?? '')),
    found: 'checkpoint_missing',
    isRefused: false,
  },
  { name: 'no key', attack: (dir) => rmSync(join(dir, 'ledger.key')), found: 'key_missing', isRefused: true },
  {
    name: 'another key',
    attack: (dir) => writeFileSync(join(dir, 'ledger.key'), randomBytes(32)),
    found: 'changed_event',
    isRefused: true,
  },
]

describe.concurrent('a ledger that somebody tampered with', () => {
  it.for(ATTACKS)(
    '[REQ-ATTACK-11] $name: found and named, exit code 1',
    async ({ attack, found, isRefused }, context) => {
      const dir = copyOf(original)
      attack(dir)
      const seen = await verify(dir)
      context.expect(seen).toMatchObject({ code: 1, ok: false })
      context.expect(seen.codes).toContain(found)
      const before = rowsOf(dir)
      if (!isRefused) return
      const ended = await place.run(['serve', '--port', '0', '--state-dir', dir])
      context.expect(ended.code).toBe(1)
      context.expect(ended.stderr).toContain('audit verify')
      context.expect(rowsOf(dir), 'nothing was repaired in silence').toEqual(before)
    },
  )

  it('[REQ-ATTACK-12] a change in the middle lets the server start, but it says that it is not ready and audit verify through it says no', async ({
    expect,
  }) => {
    const dir = copyOf(original)
    tamper(dir, (database) =>
      database.prepare("UPDATE event SET actor = 'agent:eve' WHERE seq = ?").run(middle(database)),
    )
    const server = await place.serve(['--state-dir', dir])
    const status = async () => (await fetch(`${server.url}/ready`)).status
    for (let i = 0; i < 400 && (await status()) !== 503; i += 1) await new Promise((resolve) => setTimeout(resolve, 25))
    expect(await status()).toBe(503)
    expect(await verify(dir)).toMatchObject({ code: 1, ok: false, first: { code: 'changed_event' } })
    await stopped(server, 'SIGTERM')
    expect(await verify(dir)).toMatchObject({ code: 1, ok: false, first: { code: 'changed_event' } })
  })
})
