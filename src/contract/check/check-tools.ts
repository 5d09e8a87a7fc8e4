import { BUILT_IN_TOOLS, HARNESS_TOOLS } from '../../core/tool-calls/built-in-tools.js'
import type { ContractDocument, PhaseDocument } from '../document.js'
import { formatDidYouMean } from '../nearest.js'
import type { Reading } from '../read/reading.js'

/** Tools: every name is provided, and the phase's tools can produce what it requires. */
export function checkTools(reading: Reading, document: ContractDocument): void {
  for (const phase of document.phases) {
    const allowed = phase.allowed_tools === 'all' ? [] : phase.allowed_tools
    for (const list of [allowed, phase.forbidden_tools]) {
      for (const [index, tool] of list.entries()) checkTool(reading, document, tool, { made: list, key: index })
    }
    for (const tool of Object.keys(phase.tool_constraints)) {
      checkTool(reading, document, tool, { made: phase.tool_constraints, key: tool })
      if (phase.allowed_tools === 'all' || isUsed(phase, tool)) continue
      const message = `The phase '${phase.id}' does not allow ${tool}.`
      reading.reportAt('contract.unused_constraint', [phase.tool_constraints, tool], message)
    }
    for (const [index, tool] of phase.forbidden_tools.entries()) {
      if (!allowed.includes(tool)) continue
      const message = `The tool ${tool} is both allowed and forbidden in '${phase.id}'; forbidden wins.`
      reading.reportAt('contract.tool_allowed_and_forbidden', [phase.forbidden_tools, index], message)
    }
    checkEvidence(reading, document, phase)
  }
  checkAgents(reading, document)
}

/** Tools besides the built-in ones that the contract names: its own, and those of upstream servers. */
export function listExtraTools(document: ContractDocument): string[] {
  const listed = document.phases.flatMap((phase) => [
    ...(phase.allowed_tools === 'all' ? [] : phase.allowed_tools),
    ...phase.forbidden_tools,
    ...Object.keys(phase.tool_constraints),
  ])
  const others = [...Object.keys(document.tools ?? {}), ...listed].filter(
    (tool) => !BUILT_IN_TOOLS.has(tool) && !HARNESS_TOOLS.has(tool),
  )
  return [...new Set(others)].sort()
}

function isUsed(phase: PhaseDocument, tool: string): boolean {
  const users = [
    tool,
    ...[...BUILT_IN_TOOLS.values()].filter((spec) => spec.inherits === tool).map((spec) => spec.name),
  ]
  return users.some((user) => phase.allowed_tools.includes(user) && !phase.forbidden_tools.includes(user))
}

function checkTool(
  reading: Reading,
  document: ContractDocument,
  tool: string,
  at: { made: object; key: string | number },
): void {
  const own = Object.keys(document.tools ?? {})
  if (BUILT_IN_TOOLS.has(tool) || HARNESS_TOOLS.has(tool) || own.includes(tool)) return
  const dot = tool.indexOf('.')
  const servers = Object.keys(document.mcp_servers ?? {})
  if (dot > 0 && dot < tool.length - 1 && servers.includes(tool.slice(0, dot))) return
  const names = [...BUILT_IN_TOOLS.keys(), ...HARNESS_TOOLS, ...own, ...servers.map((server) => `${server}.*`)]
  reading.reportAt(
    'contract.unknown_tool',
    [at.made, at.key],
    `Nothing provides the tool '${tool}'.`,
    `${formatDidYouMean(tool, names)}Known tools: ${names.join(', ')}.`,
  )
}

/** The tools that can produce each artifact; an artifact that is not listed needs none. */
const PRODUCERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['test_files', ['write_files', 'edit_files', 'bash']],
  ['implementation_files', ['write_files', 'edit_files', 'bash']],
  ['test_run_result', ['bash', 'run_tests']],
])

function checkEvidence(reading: Reading, document: ContractDocument, phase: PhaseDocument): void {
  if (phase.allowed_tools === 'all') return
  const usable = phase.allowed_tools.filter((tool) => !phase.forbidden_tools.includes(tool))
  if (usable.some((tool) => !BUILT_IN_TOOLS.has(tool))) return
  for (const artifact of phase.required_artifacts) {
    const producers = PRODUCERS.get(artifact.type)
    const isObserved = artifact.type === 'test_run_result' && Object.hasOwn(document.commands ?? {}, 'tests')
    if (producers === undefined || isObserved || usable.some((tool) => producers.includes(tool))) continue
    reading.reportAt(
      'contract.unproducible_evidence',
      [artifact, 'type'],
      `None of the tools of '${phase.id}' could produce ${artifact.type}.`,
      `Allow one of ${producers.join(', ')}, or require it elsewhere.`,
    )
  }
}

function checkAgents(reading: Reading, document: ContractDocument): void {
  const names = Object.keys(document.agents ?? {})
  const check = (agent: string | undefined, made: object, key: string): void => {
    if (agent === undefined || agent === '' || names.includes(agent)) return
    const remedy = `${formatDidYouMean(agent, names)}Known agents: ${names.length === 0 ? 'none' : names.join(', ')}.`
    reading.reportAt('contract.unknown_agent', [made, key], `The agent '${agent}' is not defined.`, remedy)
  }
  const remote = (agent: string, made: object, key: number): void =>
    reading.reportAt(
      'contract.effect_differs',
      [made, key],
      `No entry of agents is called '${agent}': an operator gives its token to the agent that votes under that name.`,
      `${formatDidYouMean(agent, names)}Known agents: ${names.join(', ')}.`,
    )
  for (const phase of document.phases) {
    for (const spawn of phase.auto_spawn ?? []) check(spawn.agent, spawn, 'agent')
    const voters = names.length === 0 ? [] : (phase.consensus?.agents ?? [])
    for (const [index, agent] of voters.entries()) if (!names.includes(agent)) remote(agent, voters, index)
  }
}
