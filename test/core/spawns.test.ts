import { describe, expect, it } from 'vitest'
import {
  decideRegistry,
  EMPTY_REGISTRY,
  evolveRegistry,
  type Registry,
  type RegistryFact,
} from '../../src/core/identity/registry.js'
import { contractOf, gate, phase, World } from './world.js'

const SPAWNS_LISTED_MAX = 1000
const SPAWNED = { isSpawned: true } as const
const LEASE_MS = 900_000
const drop = (world: World, instance = 'a-1'): readonly string[] =>
  world.do({ type: 'drop_agent', agentId: 'a', instance, reason: 'it ended with code 1' }, 'system')

function spawned(maxRetries: number | null): World {
  const crash = maxRetries === null ? {} : { agentCrash: { action: 'retry', maxRetries, backoffSeconds: 10 } as const }
  const world = new World(contractOf([phase('A'), phase('B', { gates: [gate('g')] })], crash))
  world.claim('a', SPAWNED)
  return world
}

describe('a task whose agent was dropped', () => {
  it('[REQ-SPAWN-12] is interrupted only by the instance that holds it', () => {
    const world = spawned(2)
    expect(drop(world, 'a-0')).toEqual([])
    expect(world.do({ type: 'drop_agent', agentId: 'b', instance: 'a-1', reason: '' }, 'system')).toEqual([])
    expect(drop(world)).toEqual(['agent_dropped'])
    expect(world.state).toMatchObject({ status: 'interrupted', held: null, reservedFor: 'a', crashes: 1 })
    expect(drop(world)).toEqual([])
    world.expectReplayEqualsLive()
  })

  it('[REQ-SPAWN-9] is not for anybody else, before the back-off and after it', () => {
    const world = spawned(2)
    drop(world)
    expect(world.claim('b')).toEqual(['!already_claimed'])
    expect(world.claim('a')).toEqual(['!task_not_active'])
    world.now += 10_000
    expect(world.claim('b')).toEqual(['!already_claimed'])
    expect(world.claim('a', SPAWNED)).toEqual(['task_claimed'])
    expect(world.state).toMatchObject({ reservedFor: null, held: { isSpawned: true } })
  })

  it('[REQ-SPAWN-9] is kept for it also when its lease lapsed', () => {
    const world = spawned(2)
    // The agent resumes its own claim: it is still the one that was started.
    world.claim('a')
    expect(world.state.held?.isSpawned).toBe(true)
    world.now += LEASE_MS
    expect(world.claim('b')).toEqual(['lease_lapsed'])
    expect(world.state).toMatchObject({ status: 'interrupted', reservedFor: 'a' })
    world.expectReplayEqualsLive()
  })

  it('[REQ-SPAWN-8] is parked after so many losses in one phase, with the reason, and then any agent may claim it', () => {
    const world = spawned(1)
    drop(world)
    world.now += 10_000
    world.claim('a', SPAWNED)
    expect(drop(world)).toEqual(['agent_dropped', 'task_parked'])
    expect(world.state).toMatchObject({ status: 'parked', reservedFor: null })
    expect(world.state.parkedReason).toContain('the last was a: it ended with code 1')
    expect(world.do({ type: 'resume', reason: 'again', agentIsFree: false }, 'operator:x')).toEqual(['task_resumed'])
    expect(world.claim('b')).toEqual(['task_claimed'])
  })

  it('[REQ-SPAWN-8] counts again in the next phase', () => {
    const world = spawned(1)
    drop(world)
    world.now += 10_000
    world.claim('a', SPAWNED)
    world.move('B')
    expect(drop(world)).toEqual(['agent_dropped'])
    expect(world.state).toMatchObject({ status: 'interrupted', phase: 'B', crashes: 1 })
  })

  it('[REQ-SPAWN-13] has three retries and a minute where the contract says nothing; one that nobody started has none of that', () => {
    const world = spawned(null)
    for (let count = 1; count <= 3; count += 1) {
      expect(drop(world)).toEqual(['agent_dropped'])
      expect(world.state.claimableAt).toBe(world.now + count * 60_000)
      world.now += count * 60_000
      world.claim('a', SPAWNED)
    }
    expect(drop(world)).toEqual(['agent_dropped', 'task_parked'])
    const other = new World(contractOf([phase('A'), phase('B')]))
    other.claim('a')
    other.now += LEASE_MS
    expect(other.claim('b')).toEqual(['lease_lapsed', 'task_claimed'])
  })
})

const program = { harness: 'command', command: 'x', args: [], model: null } as const
const spawnFact = (agentId: string): RegistryFact => ({
  ...{ type: 'agent_spawned', agentId, taskId: 't', review: null, entry: null, program },
  ...{ adapter: 'subprocess', unenforced: [] },
})
const endFact = (agentId: string): RegistryFact => ({
  ...{ type: 'agent_ended', agentId, taskId: 't', outcome: 'completed', reason: 'done', exitCode: 0, lastLines: [] },
})
const told = (registry: Registry, fact: RegistryFact): Registry => {
  const facts = decideRegistry(registry, fact)
  if ('code' in facts) throw new Error(facts.code)
  return facts.reduce((next, one) => evolveRegistry(next, { ...one, at: 1, actor: 'system' }), registry)
}

describe('agents that were started, in the registry', () => {
  const registered: RegistryFact = {
    type: 'agent_registered',
    agentId: 'a',
    instance: 'i',
    capabilities: [],
    expiresAt: 9,
  }

  it('[REQ-SPAWN-3] no two have one name, and none that of an agent with a token', () => {
    const first = told(EMPTY_REGISTRY, spawnFact('a'))
    expect(decideRegistry(first, spawnFact('a'))).toMatchObject({ code: 'conflict' })
    expect(decideRegistry(told(EMPTY_REGISTRY, registered), spawnFact('a'))).toMatchObject({ code: 'conflict' })
  })

  it('[REQ-SPAWN-7] the end of one ends its tokens, and comes once', () => {
    const ended = told(told(told(EMPTY_REGISTRY, spawnFact('a')), registered), endFact('a'))
    expect(ended.agents.get('a')?.revokedAt).toBe(1)
    expect(ended.spawns.get('a')?.ended).toMatchObject({ outcome: 'completed' })
    expect(decideRegistry(ended, endFact('a'))).toEqual([])
    expect(told(ended, spawnFact('a')).spawns.get('a')).toMatchObject({ starts: 0, ended: null })
  })

  it('[REQ-SPAWN-27] so many are listed, and one that lives is never forgotten', () => {
    let registry = told(EMPTY_REGISTRY, spawnFact('alive'))
    for (let at = 0; at < SPAWNS_LISTED_MAX + 5; at += 1)
      registry = told(told(registry, spawnFact(`a-${at}`)), endFact(`a-${at}`))
    expect(registry.spawns.size).toBeLessThanOrEqual(SPAWNS_LISTED_MAX)
    expect(registry.spawns.get('alive')?.ended).toBeNull()
    expect(registry.spawns.has('a-0')).toBe(false)
  })
})
