import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Attempt, bundled, type Outcome, outcomesOf } from './attempts.js'
import { leaksOf } from './leaks.js'
import { CONNECTING, KERNEL, LOOKING, READING, type Target, WRITING } from './reaching-out.js'
import { type Scene, setScene } from './scene.js'
import { type Setting, settings } from './stage.js'
import { openStages } from './stages.js'
import { FOREIGN_CALLS, SYSCALLS } from './syscalls.js'

const GROUPS: readonly (readonly [id: string, what: string, attempts: readonly Attempt<Target>[]])[] = [
  ['REQ-WALL-1', 'reads', READING],
  ['REQ-WALL-2', 'writes', WRITING],
  ['REQ-WALL-3', 'reaches', CONNECTING],
  ['REQ-WALL-4', 'looks into', LOOKING],
  ['REQ-WALL-5', 'gets', KERNEL],
  ['REQ-WALL-6', 'gets through', [...SYSCALLS, ...FOREIGN_CALLS]],
]
const ALL = GROUPS.flatMap(([, , attempts]) => attempts)
const ATTEMPTS_SECONDS_MAX = 120

interface Tried {
  readonly inside: ReadonlyMap<string, Outcome>
  readonly outside: ReadonlyMap<string, Outcome>
  readonly isVictimAlive: boolean
  readonly arrivedInside: number
  /** What a file beside the tree says after the attempts. */
  readonly beside: string
}

const scenes = new Map<string, Scene>()
const tried = new Map<string, Tried>()
const stages = openStages((setting) => ({
  prepare: async (places) => {
    scenes.set(setting.name, await setScene(places, setting.account))
  },
}))

beforeAll(async () => {
  await Promise.all(settings().map(async (setting) => tried.set(setting.name, await tryAll(setting))))
}, ATTEMPTS_SECONDS_MAX * 1000)

afterAll(() => {
  for (const scene of scenes.values()) scene.close()
})

function sceneOf(setting: Setting): Scene {
  const scene = scenes.get(setting.name)
  if (scene === undefined) throw new Error('there is no scene')
  return scene
}

async function tryAll(setting: Setting): Promise<Tried> {
  const stage = stages.of(setting)
  const scene = sceneOf(setting)
  const outside = await tryOutside({ ...stage, scene, victim: scene.victim() })
  const arrivedBefore = scene.arrived()
  const before = readFileSync(scene.beside, 'utf8')
  const victim = scene.victim()
  const agent = await stage.agent()
  const ran = await agent.bash(bundled(ALL, { ...stage, scene, victim }), ATTEMPTS_SECONDS_MAX)
  if (ran.exit === null) throw new Error(`${JSON.stringify(ran.body)}\n${stage.output()}`)
  return {
    inside: outcomesOf(ALL, ran.stdout),
    outside,
    isVictimAlive: victim.isAlive(),
    arrivedInside: scene.arrived() - arrivedBefore,
    beside: readFileSync(scene.beside, 'utf8') === before ? 'as it was' : 'changed',
  }
}

// In a mount namespace of its own, so that nothing of the machine is really changed.
const PRIVATE = ['unshare', '--mount', '--propagation', 'private']

async function tryOutside(target: Target): Promise<ReadonlyMap<string, Outcome>> {
  const isRoot = target.account.name === 'root'
  const made = new Map<string, Outcome>()
  const run = async (needs: Attempt<Target>['needs'], under: readonly string[]): Promise<void> => {
    const attempts = ALL.filter((one) => one.needs === needs)
    const { stdout } = await target.outside(bundled(attempts, target), { under })
    for (const [name, outcome] of outcomesOf(attempts, stdout)) made.set(name, outcome)
  }
  await run('plain', isRoot ? PRIVATE : [])
  await run('namespaces', isRoot ? PRIVATE : [...PRIVATE, '--user', '--map-root-user'])
  if (isRoot) await run('root', PRIVATE)
  return made
}

describe.each(settings())('$name', (setting) => {
  const { name, account } = setting
  for (const [id, what, attempts] of GROUPS) {
    it.each(attempts)(`[${id}] no command ${what}: $name`, (attempt) => {
      expect(tried.get(name)?.inside.get(attempt.name)).toBe('failed')
    })

    const comparable = attempts.filter((one) => one.needs !== 'root' || account.name === 'root')
    it.each(comparable)(`[${id}] without a wall the same succeeds: $name`, (attempt) => {
      expect(tried.get(name)?.outside.get(attempt.name)).toBe('succeeded')
    })
  }

  it('[REQ-WALL-4] a process that commands tried to kill is still there', () => {
    expect(tried.get(name)?.isVictimAlive).toBe(true)
  })

  it('[REQ-WALL-3] no connection and no datagram arrived from inside', () => {
    expect(tried.get(name)?.arrivedInside).toBe(0)
  })

  it('[REQ-WALL-2] a file beside the tree is as it was', () => {
    expect(tried.get(name)?.beside).toBe('as it was')
  })

  it('[REQ-WALL-12] a value that was told to the server is found in the answers, the ledger and the tree', async () => {
    const stage = stages.of(setting)
    const canary = `canary-${randomBytes(24).toString('hex')}`
    const agent = await stage.agent()
    await agent.bash(`echo ${canary}; echo ${canary} | rev; echo ${canary} > tests/canary.txt`)
    const found = (await leaksOf(stage, stages.program(), new Map([['canary', canary]]))).join('\n')
    expect(found).toMatch(/canary \(plain\) in answer \d+/)
    expect(found).toContain('canary (plain) in the export of the ledger')
    expect(found).toContain('canary (plain) in tree/tests/canary.txt')
  })

  it('[REQ-WALL-12] no secret is found in any answer, the ledger, the log or a file', async () => {
    const stage = stages.of(setting)
    expect(stage.secrets.size).toBe(7)
    expect(await leaksOf(stage, stages.program(), stage.secrets)).toEqual([])
  })
})
