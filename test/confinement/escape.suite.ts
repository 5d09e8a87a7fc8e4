import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Attempt, bundled, type Outcome, outcomesOf } from './attempts.js'
import { CONNECTING, KERNEL, LOOKING, READING, type Target, WRITING } from './reaching-out.js'
import type { Scene } from './scene.js'
import { PROVIDERS, type Stage, someSettings } from './stage.js'
import type { Stages } from './stages.js'
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

const tried = new Map<string, Tried>()

async function tryAll(stage: Stage, scene: Scene): Promise<Tried> {
  const outside = isCompared(stage)
    ? await tryOutside({ ...stage, scene, victim: scene.victim() })
    : new Map<string, Outcome>()
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

// Without a wall it makes no difference which one is missing: once for each account will do.
function isCompared({ provider }: Pick<Stage, 'provider'>): boolean {
  return provider === PROVIDERS[0]
}

/** Commands reach for what is not theirs, by every way there is. */
export function escapeSuite(stages: Stages): void {
  beforeAll(async () => {
    await Promise.all(
      someSettings().map(async (one) => tried.set(one.name, await tryAll(stages.of(one), stages.sceneOf(one)))),
    )
  }, ATTEMPTS_SECONDS_MAX * 1000)

  describe.each(someSettings())('reaching out: $name', ({ name, account, provider }) => {
    for (const [id, what, attempts] of GROUPS) {
      it.each(attempts)(`[${id}] no command ${what}: $name`, (attempt) => {
        expect(tried.get(name)?.inside.get(attempt.name)).toBe('failed')
      })

      const comparable = isCompared({ provider })
        ? attempts.filter((one) => one.needs !== 'root' || account.name === 'root')
        : []
      it.each(comparable)(`[${id}] without a sandbox the same succeeds: $name`, (attempt) => {
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
  })
}
