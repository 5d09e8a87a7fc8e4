import type { Contract } from '../../core/contract/contract.js'
import type { JsonObject } from '../../core/json.js'
import type { TaskEvent } from '../../core/task/event.js'
import type { BlockerFound, CheckSeen } from '../../core/task/fact-parts.js'
import { toCheckView } from '../tasks/check-view.js'

type GateStatus = 'passed' | 'blocked' | 'waiting' | 'not_tried'

interface GateSeen {
  readonly status: GateStatus
  readonly checks: readonly CheckSeen[]
  readonly blockers: readonly BlockerFound[]
}

const NOT_TRIED: GateSeen = { status: 'not_tried', checks: [], blockers: [] }

/** The gates of every phase and what the newest request found of each, followed through the events of a task. */
export class GateTrack {
  readonly #gates = new Map<string, GateSeen>()
  #checks: readonly CheckSeen[] = []

  constructor(private readonly contract: Contract) {}

  add(event: TaskEvent): void {
    switch (event.type) {
      case 'transition_requested':
        this.#checks = event.checks ?? []
        return
      case 'gate_blocked':
        this.#put(event.phase, (gate) => this.#judgeBlocked(gate, event.blockers))
        return
      case 'gate_passed':
        this.#put(event.phase, (gate) => this.#judgePassed(gate, event))
        return
      case 'phase_entered':
      case 'task_rewound':
        this.#checks = []
        this.#put(event.to, () => NOT_TRIED)
        return
      default:
        return
    }
  }

  view(): readonly JsonObject[] {
    return [...this.contract.phases.values()].flatMap((phase) =>
      phase.gates.map((gate) => {
        const { status, checks, blockers } = this.#gates.get(formatKey(phase.id, gate.id)) ?? NOT_TRIED
        const recorded = checks.map((check) => addRemedy(check, blockers))
        // Earlier versions recorded only what blocked.
        const told = recorded.length > 0 ? recorded : blockers.flatMap((blocker) => toBlockedCheck(blocker))
        return { id: gate.id, phase: phase.id, type: gate.type, status, checks: told }
      }),
    )
  }

  #put(phase: string, judge: (gate: string) => GateSeen): void {
    for (const { id } of this.contract.phases.get(phase)?.gates ?? []) this.#gates.set(formatKey(phase, id), judge(id))
  }

  #judgeBlocked(gate: string, all: readonly BlockerFound[]): GateSeen {
    const blockers = all.filter((blocker) => blocker.gate === gate)
    const checks = this.#checks.filter((check) => check.gate === gate)
    const isWaiting = blockers.some(({ code }) => code === 'approval_pending')
    if (blockers.length > 0) return { status: isWaiting ? 'waiting' : 'blocked', checks, blockers }
    const isHeld =
      checks.length > 0 && checks.every(({ result, severity }) => result === 'holds' || severity !== 'blocking')
    return { status: isHeld ? 'passed' : 'not_tried', checks, blockers }
  }

  // A transition that names a gate is held by that one only.
  #judgePassed(gate: string, event: TaskEvent & { type: 'gate_passed' }): GateSeen {
    const checks = this.#checks.filter((check) => check.gate === gate)
    const blockers = [...event.warnings, ...event.violations].filter((blocker) => blocker.gate === gate)
    const isOne = event.gate === gate || checks.length > 0
    return isOne ? { status: 'passed', checks, blockers } : NOT_TRIED
  }
}

function formatKey(phase: string, gate: string): string {
  return JSON.stringify([phase, gate])
}

function addRemedy(check: CheckSeen, blockers: readonly BlockerFound[]): JsonObject {
  const blocker = blockers.find((one) => one.check === check.check && one.message.includes(check.found))
  const { artifact: _, gate: __, ...view } = toCheckView(check)
  return { ...view, remedy: blocker?.remedy ?? null }
}

function toBlockedCheck({ check, severity, grade, message, remedy }: BlockerFound): readonly JsonObject[] {
  if (check === null) return []
  return [{ check, severity, status: severity === 'blocking' ? 'failed' : 'warning', grade, message, remedy }]
}
