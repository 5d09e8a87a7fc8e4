import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { leaksOf } from './leaks.js'
import { newMark, processesWith, within } from './scene.js'
import { type Agent, openStage, type Ran, type Setting, type Stage, someSettings } from './stage.js'
import { openStages } from './stages.js'

const SETTINGS = someSettings()
const stages = openStages(SETTINGS)
// How long a command takes to begin is no promise: the attacks beside it take all of a machine.
const BEGUN_MS_MAX = 180_000
const GONE_MS_MAX = 10_000
const ANSWER_MS_MAX = 10_000
const MMAP = process.arch === 'arm64' ? 222 : 9

/** Attacks that go on until somebody stops them, and what is said of them then. `$mark` is the name of what must be gone afterwards. */
const ENDLESS: readonly (readonly [name: string, script: string, seconds: number, says: RegExp])[] = [
  ['a fork bomb', 'bomb() { (exec -a $mark sleep 5) & bomb | bomb & }; bomb; sleep 20', 1, /timed out after 1 s/],
  ['output without end', '(exec -a $mark yes)', 30, /more than 16 MiB of output/],
  ['output without end to stderr', '(exec -a $mark yes >&2)', 30, /more than 16 MiB of output/],
  [
    'a process that ignores every signal it can',
    "trap '' TERM INT HUP QUIT; (exec -a $mark sleep 60)",
    1,
    /timed out after 1 s/,
  ],
  ['a loop', 'exec -a $mark bash -c "while :; do :; done"', 1, /timed out after 1 s/],
  ['a child that goes on and a parent that waits', '(exec -a $mark sleep 60) & wait', 1, /timed out after 1 s/],
  ['a stopped process', '(exec -a $mark sleep 60) & kill -STOP $!; kill -STOP $$; wait', 1, /timed out after 1 s/],
]

/** Children that stay when their parent ends, with its output still open. */
const LEFT_BEHIND: readonly (readonly [name: string, script: string])[] = [
  ['disown', '(exec -a $mark sleep 60) & disown'],
  ['nohup', 'nohup bash -c "exec -a $mark sleep 60" &'],
  ['setsid', 'setsid bash -c "exec -a $mark sleep 60" &'],
  [
    'a double fork',
    `perl -MPOSIX -e 'exit if fork; POSIX::setsid(); exit if fork; exec { "sleep" } $ARGV[0], 60' $mark`,
  ],
  ['ignored signals', `(trap '' TERM INT HUP; exec -a $mark sleep 60) &`],
]

/** What does not fit. Each ends with 0 only when it fits, which it does outside. */
const TOO_LARGE: readonly (readonly [name: string, script: string])[] = [
  ['600 MiB in /tmp', `f=\${TMPDIR:-/var/tmp}/phaselock-wall-$$; fallocate -l 600M $f; r=$?; rm -f $f; exit $r`],
  ['600 MiB in /dev/shm', 'f=/dev/shm/phaselock-wall-$$; fallocate -l 600M $f; r=$?; rm -f $f; exit $r'],
  ['a file of more than a GiB', 'fallocate -l 1100M tests/large; r=$?; rm -f tests/large; exit $r'],
  ['5 GiB of memory', `exec perl -e 'exit(syscall(${MMAP}, 0, 5 << 30, 3, 0x4022, -1, 0) == -1 ? 1 : 0)'`],
  [
    '700 processes',
    `exec perl -e 'my @p; for (1 .. 700) { my $p = fork(); last unless defined $p; if (!$p) { sleep 9; exit } push @p, $p } kill 9, @p; exit(@p == 700 ? 0 : 1)'`,
  ],
]

let trees = 0
/** Each attack has a tree of its own: commands of one tree wait for each other. */
async function newTree(stage: Stage): Promise<string> {
  trees += 1
  const tree = stage.makeTree(`tree-${trees}`)
  await stage.outside('mkdir tests', { cwd: tree })
  return tree
}

interface Attacked {
  readonly ran: Ran
  readonly mark: string
  readonly tree: string
  /** What others were answered meanwhile. */
  readonly others: readonly number[]
}

async function attack(setting: Setting, script: string, seconds?: number): Promise<Attacked> {
  const stage = stages.of(setting)
  const mark = newMark()
  const tree = await newTree(stage)
  const agent = await stage.agent(tree)
  const other = await stage.agent(await newTree(stage))
  const running = agent.bash(`mark=${mark}; export mark\n${script}`, seconds)
  const others = await askedMeanwhile(stage, other, running)
  return { ran: await running, mark, tree, others }
}

// Asked while the attack runs, and at least once.
async function askedMeanwhile(stage: Stage, other: Agent, running: Promise<unknown>): Promise<readonly number[]> {
  let isOver = false
  void running.finally(() => {
    isOver = true
  })
  const statuses: number[] = []
  do {
    const startedAt = Date.now()
    const body = { task_id: other.taskId, tool_name: 'bash', args: { command: 'true' } }
    const answers = await Promise.all([
      stage.call('GET', '/health', null),
      stage.call('POST', '/tools/check', other.token, body),
    ])
    statuses.push(...answers.map(({ status }) => (Date.now() - startedAt > ANSWER_MS_MAX ? 0 : status)))
    await new Promise((resolve) => setTimeout(resolve, 200))
  } while (!isOver)
  return statuses
}

describe.concurrent.each(SETTINGS)('$name', (setting) => {
  const files = setting.provider === 'overlay+bubblewrap' ? 100_000 : 21_000
  // The account makes no difference to how changes are read: once for each provider will do.
  const dropped: readonly (readonly [name: string, script: string, says: RegExp])[] = [
    [
      'files that are large and take no room',
      'for i in 1 2; do truncate -s 600M tests/sparse$i; done',
      /more than 1024 MiB were changed/,
    ],
    [
      'more files than anybody looks through',
      `perl -e 'for (1 .. ${files}) { open(F, ">", "tests/f$_") or exit 1 }'`,
      /more than 20000 paths were changed/,
    ],
  ]

  it.each(ENDLESS)(
    '[REQ-WALL-13] it is stopped, says why, leaves nothing running, and others are answered meanwhile: %s',
    async (_, script, seconds, says) => {
      const { ran, mark, others } = await attack(setting, script, seconds)
      expect(ran).toMatchObject({ status: 400, code: 'tool_failed' })
      expect(ran.detail).toMatch(says)
      expect(new Set(others)).toEqual(new Set([200]))
      expect(await within(GONE_MS_MAX, () => processesWith(mark).length === 0)).toBe(true)
    },
  )

  it('[REQ-WALL-13] what a command leaves behind does not keep the call open and is gone with it', async () => {
    for (const [name, script] of LEFT_BEHIND) {
      const { ran, mark } = await attack(setting, script)
      expect({ name, status: ran.status, exit: ran.exit }).toEqual({ name, status: 200, exit: 0 })
      expect(await within(GONE_MS_MAX, () => processesWith(mark).length === 0), name).toBe(true)
    }
  })

  it('[REQ-WALL-13] without a sandbox what is left behind goes on', async () => {
    const stage = stages.of(setting)
    const mark = newMark()
    await stage.outside(`mark=${mark}; (exec -a $mark sleep 60) >/dev/null 2>&1 & disown`)
    expect(await within(BEGUN_MS_MAX, () => processesWith(mark).length === 1)).toBe(true)
    for (const { pid } of processesWith(mark)) process.kill(pid, 'SIGKILL')
  })

  it.each(TOO_LARGE)('[REQ-WALL-13] it does not fit in the sandbox, and fits outside: %s', async (_, script) => {
    const stage = stages.of(setting)
    expect((await stage.outside(script, { cwd: await newTree(stage) })).exit).toBe(0)
    const { ran, others } = await attack(setting, script, 20)
    expect({ status: ran.status, isRefused: ran.exit !== 0 }).toEqual({ status: 200, isRefused: true })
    expect(new Set(others)).toEqual(new Set([200]))
  })

  it.each(setting === SETTINGS.find(({ provider }) => provider === setting.provider) ? dropped : [])(
    '[REQ-WALL-13] it is dropped as a whole, and others are answered meanwhile: %s',
    async (_, script, says) => {
      const { ran, others, tree } = await attack(setting, script, 60)
      expect(ran).toMatchObject({ status: 403, code: 'constraint_violation' })
      expect(ran.detail).toMatch(says)
      expect(new Set(others)).toEqual(new Set([200]))
      expect(readdirSync(join(tree, 'tests'))).toEqual([])
    },
  )

  it('[REQ-WALL-13] a server that is killed takes its commands with it', async () => {
    const stage = await openStage(stages.program(), setting)
    const mark = newMark()
    const agent = await stage.agent()
    const running = agent
      .bash(`(exec -a ${mark} sleep 60) & setsid bash -c "exec -a ${mark} sleep 60" & wait`)
      .catch(() => null)
    expect(await within(BEGUN_MS_MAX, () => processesWith(mark).length === 2), 'both have begun').toBe(true)
    await stage.kill()
    await running
    expect(await within(GONE_MS_MAX, () => processesWith(mark).length === 0), 'both are gone').toBe(true)
    await stage.stop()
  })
})

// After all of it.
describe.each(SETTINGS)('$name, afterwards', (setting) => {
  it('[REQ-WALL-12] no secret is found in any answer, the ledger, the log or a file', async () => {
    const stage = stages.of(setting)
    expect(await leaksOf(stage, stages.program(), stage.secrets)).toEqual([])
  })
})
