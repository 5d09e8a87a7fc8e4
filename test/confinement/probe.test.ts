import { type ChildProcessWithoutNullStreams, type StdioOptions, spawn } from 'node:child_process'
import { chmodSync, chownSync, closeSync, mkdtempSync, openSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NO_CHANGES } from '../../src/confinement/confined.js'
import type { ConfinedCommand, Job, Missing } from '../../src/confinement/confinement.js'
import { probe } from '../../src/confinement/probes.js'
import { type Account, accounts, belongingTo, SYSTEM_PATH } from './account.js'

const LEFT_OPEN = 9
// Nothing keeps the attempts of the probe from succeeding here, so they are made as somebody who may do little.
const account = accounts().at(-1) as Account

let stateDir: string
beforeAll(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'phaselock-probe-'))
  chmodSync(stateDir, 0o755)
  chownSync(stateDir, account.uid, account.gid)
})
afterAll(() => rmSync(stateDir, { recursive: true, force: true }))

// As the launchers start a command, but for the descriptor that is left out.
const CLOSING = `for n in /proc/self/fd/*; do n="\${n##*/}"; [ "$n" -gt 2 ] && [ "$n" != "$2" ] && eval "exec $n>&-"; done`

/** No wall at all, with or without a descriptor too many. */
function open(job: Job, isLeaking: boolean): ConfinedCommand {
  const fd = openSync('/dev/null', 'r')
  const others = Array.from({ length: LEFT_OPEN - 2 }, (_, at) => (at + 3 === LEFT_OPEN ? fd : 'ignore'))
  const words = [
    '-c',
    `${CLOSING}; (eval "$1"); exit $?`,
    'bash',
    job.argv[2] ?? '',
    isLeaking ? String(LEFT_OPEN) : '',
  ]
  const child = spawn('bash', words, {
    ...belongingTo(account),
    cwd: job.tree,
    env: { PATH: SYSTEM_PATH },
    stdio: ['pipe', 'pipe', 'pipe', ...others] as StdioOptions,
  }) as ChildProcessWithoutNullStreams
  closeSync(fd)
  const done = new Promise<Awaited<ConfinedCommand['done']>>((resolve) =>
    child.once('close', (code) => {
      resolve({ exitCode: code ?? 1, stopped: null, changes: NO_CHANGES, files: new Map() })
    }),
  )
  child.once('exit', () => endThoseIn(job.tree))
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    done,
    kill: () => child.kill('SIGKILL'),
  } as ConfinedCommand
}

/** What the probe left running on purpose: a wall would have ended it. */
function endThoseIn(folder: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      if (readlinkSync(`/proc/${pid}/cwd`) === folder) process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It ended while it was looked at, or is somebody else's.
    }
}

async function found(isLeaking: boolean): Promise<readonly Missing[]> {
  return probe({ start: async (job) => open(job, isLeaking) }, stateDir)
}

describe('the probe', () => {
  it('[REQ-WALL-7] notices a single descriptor that reaches commands', async () => {
    expect((await found(true)).filter((one) => one.guarantee === 'environment')).toMatchObject([
      { found: 'inherited 1 descriptors' },
    ])
  })

  it('[REQ-WALL-7] does not take its own descriptors for inherited ones', async () => {
    expect((await found(false)).filter((one) => one.guarantee === 'environment')).toEqual([])
  })

  it('[REQ-WALL-7] finds what is missing where there is no sandbox', async () => {
    const missing = new Set((await found(false)).map((one) => one.guarantee))
    expect([...missing]).toEqual(expect.arrayContaining(['tree_writes', 'network', 'processes', 'syscalls']))
  })
})
