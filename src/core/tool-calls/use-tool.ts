import type { Contract, Phase, ToolConstraint } from '../contract/contract.js'
import { findRefusedPaths, isSnapshotOfTask } from '../paths/writable.js'
import type { Command, Context } from '../task/command.js'
import type { TaskFact } from '../task/event.js'
import type { Violation } from '../task/fact-parts.js'
import { type Decision, getMode, makeDecision, numberRefusal, refuseWithinBudget } from '../task/refusal.js'
import type { TaskState } from '../task/state.js'
import { findDenyingViolation } from '../watch/deny-loops.js'
import { makeViolationFacts } from '../watch/watch.js'
import { BUILT_IN_TOOLS, HARNESS_TOOLS } from './built-in-tools.js'
import type { CallFacts } from './call-facts.js'
import { isKnownTool, isOffered, listOfferedTools, requirePhase } from './offered-tools.js'

type UseTool = Command & { type: 'use_tool' }

/** Decides one tool call, first refusal wins: tool exists, offered by the phase, arguments fit, constraints hold. */
export function useTool(contract: Contract, state: TaskState, command: UseTool, context: Context): Decision {
  const phase = requirePhase(contract, state.phase)
  const agentId = state.held?.agentId ?? ''
  const call = { toolName: command.tool, args: command.args, agentId }
  const leaseSeconds = contract.enforcement.leaseSeconds
  const deny = (refusal: Violation, isRepeat = false): Decision => {
    const refused = numberRefusal(contract, state, refusal)
    const counted = refused.counted && !isRepeat
    return refuseWithinBudget(contract, state, { type: 'tool_denied', ...call, ...refused, counted, leaseSeconds })
  }

  // Tools of an agent CLI never run here; they may be checked.
  const isOfHarness = !command.execute && HARNESS_TOOLS.has(command.tool)
  if (!isOfHarness && !isKnownTool(contract, command.tool))
    return deny(makeUnknownToolViolation(contract, phase, command.tool))
  const lenient = getMode(contract, state) !== 'strict'
  let violation: Violation | null = null
  if (!isOffered(phase, command.tool)) {
    violation = makeNotOfferedViolation(contract, phase, command.tool)
    if (!lenient) return deny(violation)
  }
  const [problem] = command.call.argProblems
  if (problem !== undefined)
    return deny({ code: 'invalid_request', detail: `${command.tool}: ${command.call.argProblems.join('; ')}` })
  const outside = command.call.paths.find((one) => one.problem !== null)
  if (outside !== undefined)
    return deny({
      code: 'constraint_violation',
      detail: `${command.tool}: path ${quoteText(outside.path)} ${outside.problem}`,
    })
  const broken = findBrokenConstraint(phase, omitSnapshots(state, command), context)
  if (broken !== null) {
    violation ??= broken
    if (!lenient) return deny(broken)
  }
  const unwritable = findUnwritablePath(contract, state, command, context)
  if (unwritable !== null) {
    violation ??= unwritable.violation
    if (!lenient || unwritable.isFinal) return deny(unwritable.violation)
  }
  const runs = findCommandLine(contract, command)
  const held = findDenyingViolation(contract, state, listTouched(command, runs), context)
  if (held !== null && getMode(contract, state) !== 'advisory') {
    const detail = `${command.tool} waits for rule ${held.rule}: ${held.diagnostic}`
    const denied = deny({ code: 'rule_interrupt', detail }, state.watch.reported.has(held.rule))
    // The next acknowledgement is for the violation that caused the refusal.
    return denied.kind !== 'decided' || state.watch.open?.rule === held.rule
      ? denied
      : { ...denied, facts: [...makeViolationFacts(contract, state, held), ...denied.facts] }
  }
  const allowed: TaskFact = {
    type: 'tool_allowed',
    ...call,
    success: true,
    execute: command.execute,
    ...(runs === null ? {} : { runs }),
    violation,
    leaseSeconds,
  }
  return makeDecision([allowed])
}

// A tool that runs a command line of the contract is counted as that command.
function findCommandLine(contract: Contract, command: UseTool): string | null {
  if (command.tool === 'run_tests') return contract.commands.get('tests')?.run ?? null
  const own = contract.tools.get(command.tool)
  return own === undefined ? null : own.command.map((word) => fillPlaceholders(word, command)).join(' ')
}

function fillPlaceholders(word: string, command: UseTool): string {
  return word.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = command.args[name]
    return value === undefined || value === null || typeof value === 'object' ? whole : String(value)
  })
}

function listTouched(command: UseTool, runs: string | null) {
  const line = runs ?? (command.tool === 'bash' ? command.args.command : null)
  const isEdit = BUILT_IN_TOOLS.get(command.tool)?.paths === 'write'
  return {
    commands: typeof line === 'string' ? [line] : [],
    edits: isEdit ? command.call.paths.map((path) => path.path) : [],
  }
}

function makeUnknownToolViolation(contract: Contract, phase: Phase, tool: string): Violation {
  return {
    code: 'unknown_tool',
    detail: `Tool '${tool}' does not exist. Available in ${phase.id}: ${formatNames(listOfferedTools(contract, phase))}`,
  }
}

function makeNotOfferedViolation(contract: Contract, phase: Phase, tool: string): Violation {
  const allowed = formatNames(listOfferedTools(contract, phase))
  return { code: 'forbidden_tool', detail: `Called ${tool} (not allowed in ${phase.id}). Allowed: ${allowed}` }
}

/** The first pattern or command of the phase's constraints that the call violates; null when it violates none. */
export function findBrokenConstraint(phase: Phase, command: UseTool, context: Context): Violation | null {
  const inherits = BUILT_IN_TOOLS.get(command.tool)?.inherits
  const constraint =
    phase.constraints.get(command.tool) ?? (inherits === undefined ? undefined : phase.constraints.get(inherits))
  if (constraint === undefined) return null
  const where = { tool: command.tool, phase: phase.id }
  return (
    findBrokenPath(constraint, command.call, { ...where, context }) ??
    findBrokenCommand(constraint, command.call, where)
  )
}

// A write tool's changes are known before it runs; a command's changes are checked against the same rule afterwards.
function findUnwritablePath(
  contract: Contract,
  state: TaskState,
  command: UseTool,
  context: Context,
): { readonly violation: Violation; readonly isFinal: boolean } | null {
  if (BUILT_IN_TOOLS.get(command.tool)?.paths !== 'write') return null
  const changed = command.call.paths.map(
    ({ path }) => ({ path, kind: 'modified', type: 'file', problem: null }) as const,
  )
  const refused = findRefusedPaths(contract, state, changed, { context, git: 'none' })
  const [first] = refused
  if (first === undefined) return null
  const detail = `${command.tool} may not touch ${quoteText(first.path)} in ${state.phase}: it ${first.reason}`
  return { violation: { code: 'constraint_violation', detail }, isFinal: refused.some((one) => one.isFinal) }
}

function omitSnapshots(state: TaskState, command: UseTool): UseTool {
  if (BUILT_IN_TOOLS.get(command.tool)?.paths !== 'write') return command
  const paths = command.call.paths.filter(({ path }) => !isSnapshotOfTask(state, path))
  return { ...command, call: { ...command.call, paths } }
}

interface CallPlace {
  readonly tool: string
  readonly phase: string
}

function findBrokenPath(
  constraint: ToolConstraint,
  call: CallFacts,
  where: CallPlace & { readonly context: Context },
): Violation | null {
  for (const { path } of call.paths) {
    const forbidden = constraint.forbiddenPatterns.find((pattern) => where.context.matchesGlob(pattern, path))
    if (forbidden !== undefined)
      return {
        code: 'constraint_violation',
        detail: `${where.tool} may not touch ${quoteText(path)} in ${where.phase}: it matches the forbidden pattern ${quoteText(forbidden)}`,
      }
    const { allowedPatterns } = constraint
    if (allowedPatterns !== null && !allowedPatterns.some((pattern) => where.context.matchesGlob(pattern, path)))
      return {
        code: 'constraint_violation',
        detail: `${where.tool} may not touch ${quoteText(path)} in ${where.phase}: it matches none of the allowed patterns ${formatNames(allowedPatterns)}`,
      }
  }
  return null
}

function findBrokenCommand(constraint: ToolConstraint, call: CallFacts, where: CallPlace): Violation | null {
  if (constraint.allowedCommands === null && constraint.forbiddenCommands.length === 0) return null
  const violation = (detail: string): Violation => ({
    code: 'constraint_violation',
    detail: `${where.tool} in ${where.phase}: ${detail}`,
  })
  if (call.shellProblem !== null) return violation(`the command line cannot be read (${call.shellProblem})`)
  for (const { words, isWrapper } of call.commands) {
    const text = quoteText(words.map((word) => word ?? '…').join(' '))
    if (words[0] === null || words[0] === undefined) return violation(`the command ${text} is only known when it runs`)
    const forbidden = constraint.forbiddenCommands.find((entry) => startsWithEntry(words, entry, 'any_path'))
    if (forbidden !== undefined) return violation(`${text} begins with the forbidden command ${quoteText(forbidden)}`)
    const { allowedCommands } = constraint
    if (
      !isWrapper &&
      allowedCommands !== null &&
      !allowedCommands.some((entry) => startsWithEntry(words, entry, 'exact'))
    )
      return violation(`${text} begins with none of the allowed commands ${formatNames(allowedCommands)}`)
  }
  return null
}

// A forbidden program is forbidden under any path (`/usr/bin/git`), and a word only known at run time could be the
// forbidden one; an allowed program must be written as in the contract.
function startsWithEntry(words: readonly (string | null)[], entry: string, match: 'exact' | 'any_path'): boolean {
  const wanted = entry.split(/\s+/).filter((word) => word !== '')
  return wanted.every((word, index) => {
    const given = words[index]
    if (given === undefined) return false
    if (given === null) return match === 'any_path'
    return given === word || (match === 'any_path' && index === 0 && given.slice(given.lastIndexOf('/') + 1) === word)
  })
}

function formatNames(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.join(', ')
}

function quoteText(text: string): string {
  return JSON.stringify(text)
}
