import { expect } from 'vitest'
import type { Blocker, Contract, Gate, Phase, ToolConstraint, Transition } from '../../src/core/contract/contract.js'
import type { Command, Context, GateFacts } from '../../src/core/task/command.js'
import { checkKey } from '../../src/core/task/command.js'
import { createTask, decide, stamp } from '../../src/core/task/decide.js'
import type { TaskEvent } from '../../src/core/task/event.js'
import { evolve } from '../../src/core/task/evolve.js'
import type { Decision } from '../../src/core/task/refusal.js'
import type { TaskState } from '../../src/core/task/state.js'

/** Runs core code with the clock, chance and timers taken away: whoever reaches for them is no pure function. */
export function pure<T>(work: () => T): T {
  const kept = { now: Date.now, random: Math.random, timeout: globalThis.setTimeout }
  const forbid = (name: string) => () => {
    throw new Error(`the core reached for ${name}`)
  }
  Date.now = forbid('Date.now')
  Math.random = forbid('Math.random')
  globalThis.setTimeout = forbid('setTimeout') as unknown as typeof setTimeout
  try {
    return work()
  } finally {
    Date.now = kept.now
    Math.random = kept.random
    globalThis.setTimeout = kept.timeout
  }
}

export const T0 = 1_700_000_000_000

export function phase(id: string, about: Partial<Phase> = {}): Phase {
  return {
    id,
    name: id,
    description: '',
    prompt: '',
    allowedTools: ['read_files'],
    forbiddenTools: [],
    constraints: new Map(),
    writable: null,
    requiredArtifacts: [],
    evidence: new Map(),
    gates: [],
    ...about,
  }
}

export function gate(id: string, about: Partial<Gate> = {}): Gate {
  return {
    id,
    type: 'validation',
    approvers: [],
    minApprovals: 1,
    timeoutSeconds: 3600,
    onTimeout: 'park',
    autoAdvance: false,
    blockers: [],
    ...about,
  }
}

export function check(name: Blocker['check'], about: Partial<Blocker> = {}): Blocker {
  return { check: name, severity: 'blocking', message: '', params: {}, ...about }
}

export function constraint(about: Partial<ToolConstraint>): ToolConstraint {
  return {
    allowedPatterns: null,
    forbiddenPatterns: [],
    allowedCommands: null,
    forbiddenCommands: [],
    network: false,
    timeoutSeconds: null,
    ...about,
  }
}

export function contractOf(phases: readonly Phase[], about: Partial<Omit<Contract, 'phases'>> = {}): Contract {
  const next: Transition[] = phases
    .slice(1)
    .map((to, index) => ({ from: phases[index]?.id ?? '', to: to.id, gate: null, when: null }))
  return {
    hash: 'c'.repeat(64),
    name: 'test',
    version: '1',
    description: '',
    start: phases[0]?.id ?? '',
    phases: new Map(phases.map((one) => [one.id, one])),
    transitions: next,
    tests: { patterns: [], allowChanges: false },
    commands: new Map(),
    schemas: new Map(),
    extraTools: [],
    tools: new Map(),
    mcpServers: new Map(),
    webHosts: [],
    notEnforced: [],
    guides: new Map(),
    ...about,
    enforcement: {
      mode: 'strict',
      tokenExpirySeconds: 7200,
      secretEnvVar: 'ORCHESTRATOR_JWT_SECRET',
      maxAttempts: 3,
      denialBudget: 10,
      leaseSeconds: 900,
      confinement: 'required',
      reconcile: 'block',
      reconcileIgnore: [],
      ...about.enforcement,
    },
  }
}

export function context(now = T0, actor = 'agent:a'): Context {
  return {
    now,
    actor,
    matchesGlob: (pattern, path) =>
      pattern.endsWith('/**') ? path.startsWith(pattern.slice(0, -2)) : pattern === path,
    matches: (pattern, text) => new RegExp(pattern).test(text),
  }
}

/** A task that commands are decided on, one after the other, with everything that happened kept. */
export class World {
  state: TaskState
  readonly events: TaskEvent[] = []
  now = T0

  constructor(
    readonly contract: Contract,
    about: { readonly requires?: readonly string[]; readonly mode?: 'strict' | 'permissive' | 'advisory' } = {},
  ) {
    const task = {
      id: 't',
      title: 'T',
      description: '',
      workspace: '/w',
      dependsOn: [],
      requires: about.requires ?? [],
      metadata: {},
      mode: about.mode ?? null,
      priority: 0,
    }
    const decision = createTask(contract, task)
    if (decision.kind !== 'decided') throw new Error(decision.refusal.detail)
    const first = stamp(contract, null, decision.facts, context(this.now, 'operator:admin'))
    this.state = first.state
    this.events.push(...first.events)
  }

  /** Decides without applying. */
  ask(command: Command, actor = 'agent:a'): Decision {
    return pure(() => decide(this.contract, this.state, command, context(this.now, actor)))
  }

  /** Decides and applies; gives the types of the new events. */
  do(command: Command, actor = 'agent:a'): readonly string[] {
    const decision = this.ask(command, actor)
    if (decision.kind === 'unrecorded') return [`!${decision.refusal.code}`]
    if (decision.facts.length === 0) return []
    const stamped = pure(() => stamp(this.contract, this.state, decision.facts, context(this.now, actor)))
    this.state = stamped.state
    this.events.push(...stamped.events)
    return stamped.events.map((event) => event.type)
  }

  claim(agentId = 'a', about: Partial<Command & { type: 'claim' }> = {}): readonly string[] {
    return this.do(
      { type: 'claim', agentId, instance: `${agentId}-1`, capabilities: [], openDependencies: [], ...about },
      `agent:${agentId}`,
    )
  }

  tool(tool: string, call: Partial<(Command & { type: 'use_tool' })['call']> = {}): readonly string[] {
    return this.do({
      type: 'use_tool',
      tool,
      args: {},
      execute: false,
      call: { argProblems: [], paths: [], commands: [], shellProblem: null, ...call },
    })
  }

  move(target: string, facts: Partial<GateFacts> = {}, claims: readonly string[] = []): readonly string[] {
    return this.do({ type: 'transition', target, currentPhase: null, claims, facts: factsOf(this.state, facts) })
  }

  last(): TaskEvent {
    const event = this.events.at(-1)
    if (event === undefined) throw new Error('nothing happened')
    return event
  }

  /** The state that folding all events anew gives must be the one that grew step by step. */
  expectReplayEqualsLive(): void {
    const replayed = this.events.reduce<TaskState | null>((state, event) => evolve(state, event), null)
    expect(replayed).toEqual(this.state)
  }
}

export function factsOf(state: TaskState, about: Partial<GateFacts> = {}): GateFacts {
  return {
    visit: state.visit,
    artifacts: [],
    checks: new Map(),
    evidenceProblems: [],
    problems: [],
    evidence: {},
    digest: 'd1',
    testFiles: null,
    ...about,
  }
}

export function artifact(type: string, problems: readonly { pointer: string; message: string }[] = []) {
  return { type, sha256: `${type}-sha`, bytes: 2, grade: 'reported' as const, problems }
}

export function outcome(gateId: string, name: Blocker['check'], result: 'holds' | 'fails' | 'error', index = 0) {
  return [
    checkKey({ gate: gateId, artifact: null, index, check: name }),
    { result, found: 'as found', grade: 'reported' as const },
  ] as const
}
