import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { admit } from '../../src/core/identity/admit.js'
import type { Command } from '../../src/core/task/command.js'
import { depth } from '../depth.js'
import { artifact, check, contractOf, factsOf, gate, outcome, phase, World } from './world.js'

const plan = { type: 'plan', schema: null, description: '', checks: [] }
const contract = contractOf(
  [
    phase('A', {
      requiredArtifacts: [plan],
      gates: [gate('g', { type: 'approval', approvers: ['human'], timeoutSeconds: 100 })],
    }),
    phase('B', { allowedTools: ['write_files'], gates: [gate('h', { blockers: [check('all_tests_pass')] })] }),
    phase('C', { requiredArtifacts: [plan] }),
  ],
  {
    transitions: [
      { from: 'A', to: 'B', gate: null, when: null },
      { from: 'B', to: 'C', gate: null, when: null },
      { from: 'C', to: 'B', gate: null, when: 'again' },
    ],
  },
)
const LEGAL = new Set(['A>B', 'B>C', 'C>B'])

type Step = (world: World) => void
const target = fc.constantFrom('A', 'B', 'C', 'D', 'constructor')
const claimStep = fc.constantFrom('a', 'b').map(
  (agent): Step =>
    (world) =>
      void world.claim(agent),
)
const toolStep = fc
  .constantFrom('read_files', 'write_files', 'bash', 'nope')
  .map((tool) => agentStep((world) => void world.tool(tool)))
const moveStep = fc
  .record({
    target,
    send: fc.boolean(),
    green: fc.boolean(),
    digest: fc.constantFrom('d1', 'd2'),
    claims: fc.subarray(['again']),
    stale: fc.boolean(),
  })
  .map((one) =>
    agentStep((world) => {
      const checks = one.green ? new Map([outcome('h', 'all_tests_pass', 'holds')]) : new Map()
      const visit = one.stale ? world.state.visit - 1 : world.state.visit
      const facts = factsOf(world.state, {
        artifacts: one.send ? [artifact('plan')] : [],
        checks,
        digest: one.digest,
        visit,
      })
      world.do({ type: 'transition', target: one.target, currentPhase: null, claims: one.claims, facts })
    }),
  )
const approvalStep = fc
  .record({
    decision: fc.constantFrom('approve' as const, 'reject' as const),
    agent: fc.boolean(),
    digest: fc.constantFrom('d1', 'd2'),
  })
  .map(
    (one): Step =>
      (world) => {
        const id = [...world.state.approvals.keys()].at(-1) ?? 'none'
        const by = one.agent
          ? { kind: 'agent' as const, name: 'a' }
          : { kind: 'operator' as const, name: 'ann', role: null }
        world.do({
          type: 'decide_approval',
          approvalId: id,
          decision: one.decision,
          digest: one.digest,
          comment: '',
          by,
        })
      },
  )
const agentCommand = fc.constantFrom<Command>(
  { type: 'extend_lease' },
  { type: 'renew_token' },
  { type: 'release', reason: 'r' },
)
const otherCommand = fc.constantFrom<Command>(
  { type: 'lapse_lease' },
  { type: 'expire_approval' },
  { type: 'cancel', reason: 'r' },
  { type: 'resume', reason: 'r', agentIsFree: true },
  { type: 'resume', reason: 'r', agentIsFree: false },
  { type: 'rewind', to: 'A', reason: 'r', agentIsFree: true },
  { type: 'rewind', to: 'B', reason: 'r', agentIsFree: false },
  { type: 'reassign', agentId: 'b', reason: 'r' },
  { type: 'update', title: 'new' },
)
const clockStep = fc.integer({ min: -200_000, max: 2_000_000 }).map(
  (ms): Step =>
    (world) => {
      world.now += ms
    },
)
const steps = fc.oneof(
  { weight: 3, arbitrary: claimStep },
  { weight: 2, arbitrary: toolStep },
  { weight: 6, arbitrary: moveStep },
  { weight: 3, arbitrary: approvalStep },
  { weight: 1, arbitrary: agentCommand.map((command) => agentStep((world) => void world.do(command))) },
  {
    weight: 1,
    arbitrary: otherCommand.map(
      (command): Step =>
        (world) =>
          void world.do(command),
    ),
  },
  { weight: 1, arbitrary: clockStep },
)

// Agent commands reach the core only for a task that admits them: the shell asks `admit` first, and so does this model.
function agentStep(run: Step): Step {
  return (world) => {
    const { held, epoch, phase: id } = world.state
    const token = {
      kind: 'phase' as const,
      agentId: held?.agentId ?? '',
      taskId: 't',
      phase: id,
      epoch,
      contract: contract.hash,
    }
    if (admit(world.state, token) === null) run(world)
  }
}

describe('any sequence of commands', () => {
  it('[REQ-CORE-15] makes no illegal transition, allows no tool outside its phase, revives no token, and replays to the same state', () => {
    fc.assert(
      fc.property(fc.array(steps, { minLength: 1, maxLength: 40 }), (sequence) => {
        const world = new World(contract)
        const tokens: Parameters<typeof admit>[1][] = []
        for (const step of sequence) {
          const before = world.state
          const seen = world.events.length
          step(world)
          for (const event of world.events.slice(seen)) {
            if (event.type === 'phase_entered' && event.from !== null) {
              expect(LEGAL.has(`${event.from}>${event.to}`)).toBe(true)
              expect(event.from).toBe(before.phase)
              if (event.from === 'A')
                expect(world.events.some((one) => one.type === 'approval_decided' && one.decision === 'approve')).toBe(
                  true,
                )
            }
            if (event.type === 'tool_allowed')
              expect(contract.phases.get(before.phase)?.allowedTools).toContain(event.toolName)
            if (event.type === 'approval_decided') expect(event.by).toBe('ann')
          }
          expect(world.state.epoch).toBeGreaterThanOrEqual(before.epoch)
          if (world.state.held !== null)
            tokens.push({
              kind: 'phase',
              agentId: world.state.held.agentId,
              taskId: 't',
              phase: world.state.phase,
              epoch: world.state.epoch,
              contract: contract.hash,
            })
          for (const token of tokens)
            if (token.kind === 'phase' && token.epoch < world.state.epoch)
              expect(admit(world.state, token)).not.toBeNull()
        }
        world.expectReplayEqualsLive()
      }),
      { numRuns: depth(700, 2000) },
    )
  })
})
