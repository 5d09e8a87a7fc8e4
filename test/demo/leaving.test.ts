import { spawn, spawnSync } from 'node:child_process'
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { built, SCRIPT } from '../cli/program.js'
import { Room, show } from './showing.js'

const SHOWING_MS_MAX = 300_000
const GONE_MS_MAX = 20_000
let room: Room

beforeAll(built, SHOWING_MS_MAX)
beforeEach(() => {
  room = new Room()
})
afterEach(() => room.remove())

it.each([
  ['while the server starts', 'Starting a server', 'SIGTERM'],
  ['while the honest agent works', 'writes tests/goodbye.test.js', 'SIGINT'],
  ['while the cheating agent tries', 'In TDD it', 'SIGINT'],
] as const)(
  '[REQ-DEMO-11] a user who stops it %s gets 4 and finds nothing left behind',
  async (_, moment, signal) => {
    let isSent = false
    const ended = await show(room, [], {
      watch: (printed, kill) => {
        if (isSent || !printed.includes(moment)) return
        isSent = true
        kill(signal)
      },
    })
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 4 })
    expect(ended.stderr).toContain('Interrupted')
    expect(ended.stdout).not.toContain('Score')
    await expectNothingLeft()
  },
  SHOWING_MS_MAX,
)

it('[REQ-DEMO-12] where no folder can be made it says so in plain words', () => {
  const ended = spawnSync(process.execPath, [SCRIPT, 'demo'], {
    env: { ...process.env, TMPDIR: '/proc' },
    encoding: 'utf8',
  })
  expect([ended.status, ended.stderr]).toEqual([
    1,
    expect.stringMatching(/^The demo makes a folder in \/proc, and cannot .*TMPDIR/),
  ])
})

it(
  '[REQ-DEMO-11] a reader that has seen enough ends it, and it is not a success',
  async () => {
    const child = spawn(process.execPath, [SCRIPT, 'demo'], {
      env: room.environment,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    child.stdout.once('data', () => child.stdout.destroy())
    const code = await new Promise((resolve) => child.once('exit', resolve))
    expect(code).toBe(4)
    await expectNothingLeft()
  },
  SHOWING_MS_MAX,
)

const hasTerminal = spawnSync('script', ['--version']).status === 0

it.runIf(hasTerminal)(
  '[REQ-DEMO-9] on a terminal the human is asked, and one who does not approve ends it',
  async () => {
    const { code, text } = await onTerminal('--interactive', {}, 'n')
    expect(text).toContain('\u001B[1m')
    expect(text).toMatch(/plan_document[\s\S]+title: Say goodbye by name[\s\S]+Do you approve\?/)
    expect(text).toContain('You did not approve the plan')
    expect(code).toBe(1)
    await expectNothingLeft()
  },
  SHOWING_MS_MAX,
)

it.runIf(hasTerminal)(
  '[REQ-DEMO-4] on a terminal there are no colours with NO_COLOR',
  async () => {
    const { text } = await onTerminal('--interactive', { NO_COLOR: '1' }, 'n')
    expect(text).toContain('Two agents, one contract')
    expect(text).toContain('You did not approve the plan')
    expect(text.split('\u001B[').filter((part) => /^\d+m/.test(part))).toEqual([])
  },
  SHOWING_MS_MAX,
)

async function onTerminal(
  option: string,
  env: NodeJS.ProcessEnv,
  answer: string,
): Promise<{ readonly code: number | null; readonly text: string }> {
  const command = `'${process.execPath}' '${SCRIPT}' demo ${option}`
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: room.dir,
    env: { ...room.environment, TERM: 'xterm', SHELL: '/bin/sh', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let text = ''
  let isAnswered = false
  child.stdout.on('data', (chunk) => {
    text += chunk
    if (isAnswered || !text.includes('Do you approve?')) return
    isAnswered = true
    child.stdin.write(`${answer}\n`)
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, text }
}

// Whoever was killed takes a moment to be gone.
async function expectNothingLeft(): Promise<void> {
  const deadline = Date.now() + GONE_MS_MAX
  while (room.leftovers().length > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 100))
  await expect.poll(() => room.leftovers()).toEqual([])
}
