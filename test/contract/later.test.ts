import { readFileSync } from 'node:fs'
import { Environment } from '@marcbachmann/cel-js'
import { describe, expect, it } from 'vitest'
import { HEAD, mustLoad } from './load.js'

const TWO = `${HEAD}phases:\n  - {id: A}\n  - {id: B}\n`
const phase = (line: string): string => `${HEAD}phases:\n  - id: A\n    ${line}\n`
const gate = (line: string): string => phase(`gates: [{id: g, type: validation, ${line}}]`)
const agents = 'agents: {a: {harness: codex}}\n'

const LATER: readonly (readonly [name: string, text: string, path: string, line: number])[] = [
  [
    'a voter that is to be given variables',
    `${phase('consensus: {agents: [a], question: ok}')}agents: {a: {harness: codex, env: {X: "1"}}}\n`,
    'agents',
    6,
  ],
]

describe('what this version cannot enforce', () => {
  it.each(LATER)(
    '[REQ-CONTRACT-19] %s gives one warning at its place and one entry',
    async (_name, text, path, line) => {
      const { contract, warnings } = await mustLoad(text)
      const later = warnings.filter((d) => d.code === 'contract.not_enforced_yet')
      expect(later.map((d) => d.line)).toEqual([line])
      expect(contract.notEnforced.map((entry) => entry.path)).toEqual([path])
    },
  )

  it.each([
    ['event_bus', `${TWO}coordination: {event_bus: {type: redis}}\n`],
    ['metrics', `${TWO}monitoring: {metrics: [a]}\n`],
    ['export', `${TWO}monitoring: {export: {type: jsonl}}\n`],
    ['orchestrator_crash', `${TWO}recovery: {orchestrator_crash: {resume_from: start}}\n`],
    ['a trigger', `${TWO}transitions:\n  - {from: A, to: B, triggers: [{action: spawn_review_agents}]}\n`],
    ['auto_spawn by type', phase('auto_spawn: [{agent_type: review}]')],
    ['violation_action', `${TWO}enforcement: {tool_enforcement: {violation_action: log}}\n`],
    ['agent_sdk', `${TWO}enforcement: {agent_sdk: {required: true}}\n`],
  ])('[REQ-CONTRACT-19] %s gives a warning that says what happens instead, and gets tasks', async (_name, text) => {
    const { contract, warnings } = await mustLoad(text)
    expect(warnings.map((d) => d.code)).toEqual(['contract.effect_differs'])
    expect(contract.notEnforced).toEqual([])
  })

  it.each([
    ['auto_advance', gate('auto_advance: true')],
    ['agent_startable', `${TWO}agent_startable: true\n`],
    ['tasks_in_order', phase('tasks_in_order: true')],
    ['grade artifact', phase('checkpoint: {evidence: {f: {type: string, grade: artifact}}}\n    min_verified: 1')],
    [
      'grade observed',
      `${phase('checkpoint: {evidence: {tests_passed: {type: integer, grade: observed}}}')}commands: {tests: {run: npm test}}\n`,
    ],
    ['alerts', `${TWO}monitoring: {alerts: [{condition: "gate_block_rate > 50%"}]}\n`],
    ['agent_crash', `${TWO}recovery: {agent_crash: {max_retries: 1}}\n`],
    ['a bus in sqlite', `${TWO}coordination: {event_bus: {type: sqlite, events: [gate_passed]}}\n`],
    [
      'state access',
      `${TWO}coordination: {state_access: {mode: read_only_snapshot, mutation_via: orchestrator_api}}\n`,
    ],
    ['confinement', `${TWO}enforcement: {confinement: required}\n`],
    ['commands', `${TWO}commands: {tests: {run: npm test}}\n`],
    ['mcp_servers', `${TWO}mcp_servers: {gh: {command: gh}}\n`],
    ['own tools', `${TWO}tools: {lint: {command: [eslint]}}\n`],
    ['allowed_hosts', `${TWO}web: {allowed_hosts: [x.org]}\n`],
    ['writable', phase('writable: []')],
    ['reconcile: block', `${TWO}enforcement: {reconcile: block, reconcile_ignore: [x]}\n`],
    ['empty parts', `${TWO}commands: {}\nrecovery: {}\ncoordination: {}\nweb: {allowed_hosts: []}\nmonitoring: {}\n`],
    ['no rules', phase('rules: []')],
    ['agents', `${TWO}agents: {a: {harness: codex, env: {X: "1"}, capabilities: [typescript]}}\n`],
    [
      'auto_spawn of a program',
      `${phase('auto_spawn: [{agent: a, count: 2}]')}agents: {a: {harness: command, command: x}}\n`,
    ],
    ...['claude-code', 'codex', 'gemini', 'opencode'].map((harness) => [
      `auto_spawn of ${harness}`,
      `${phase('auto_spawn: [{agent: a, wait_for_completion: true}]')}agents: {a: {harness: ${harness}}}\n`,
    ]),
    ['a consensus', phase('consensus: {agents: [a, b], question: ok}')],
    ['a consensus of programs', `${phase('consensus: {agents: [a], question: ok}')}${agents}`],
    ['a gate time-out', `${TWO}recovery: {gate_timeout: {action: park}}\n`],
    [
      'a list of required reviews',
      phase(
        'required_artifacts: [{type: review_report}]\n    gates: [{id: g, type: validation, blockers: [{check: all_review_models_completed, required_reviews: [a]}]}]',
      ),
    ],
    ['an expression over changes', gate('blockers: [{check: expression, when: "size(changes) > 1"}]')],
    [
      'an expression over evidence',
      phase(
        'checkpoint: {evidence: {n: {type: integer}}}\n    gates: [{id: g, type: validation, blockers: [{check: expression, when: "evidence.n > 1"}]}]',
      ),
    ],
  ])('[REQ-CONTRACT-19] %s is not flagged', async (_name, text) => {
    const { contract, warnings } = await mustLoad(text)
    expect([contract.notEnforced, warnings]).toEqual([[], []])
  })
})

describe('a contract with the keys of PRD-007', () => {
  const load = () => mustLoad(readFileSync(new URL('../cases/review-board.yaml', import.meta.url), 'utf8'))

  it('[REQ-CONTRACT-18] each key whose effect differs from its words causes a warning', async () => {
    const { warnings } = await load()
    expect(warnings.filter((d) => d.code === 'contract.effect_differs').map((d) => d.path)).toEqual([
      'phases[2].required_artifacts[0].validation[1].rule',
      'phases[3].auto_spawn[0].agent_type',
      'transitions[2].triggers[0].action',
      'transitions[3].triggers[0].action',
      'transitions[3].triggers[1].action',
      'enforcement.agent_sdk.required',
      'enforcement.agent_sdk.version',
      'enforcement.agent_sdk.endpoint',
      'enforcement.agent_sdk.fallback_endpoint',
      'enforcement.tool_enforcement.audit_log',
      'coordination.event_bus.db_path',
      'coordination.conflict_resolution.strategy',
      'coordination.conflict_resolution.lock_timeout_seconds',
      'monitoring.metrics',
      'monitoring.export.type',
      'monitoring.export.path',
      'recovery.orchestrator_crash.resume_from',
      'recovery.orchestrator_crash.checkpoint_interval_seconds',
    ])
    expect(warnings.filter((d) => d.code === 'contract.human_decides')).toHaveLength(2)
  })

  it('[REQ-CONTRACT-18] validation rules are checks or facts about their artifact', async () => {
    const { contract } = await load()
    const rules = [...contract.phases.values()].flatMap((one) =>
      one.requiredArtifacts.flatMap((artifact) => artifact.checks),
    )
    expect(rules.map((rule) => [rule.check, Object.keys(rule.params).join()])).toEqual([
      ['plan_has_acceptance_criteria', ''],
      ['expression', 'when'],
      ['expression', 'when'],
      ['expression', 'when'],
      ['expression', 'when'],
      ['tests_exist_for_acceptance_criteria', ''],
      ['expression', 'when'],
      ['tests_are_failing', ''],
      ['expression', 'when'],
      ['expression', 'when'],
      ['all_tests_pass', ''],
      ['all_review_models_completed', 'required_reviews'],
      ['no_blocking_issues', ''],
      ['expression', 'when'],
      ['expression', 'when'],
    ])
  })

  it('[REQ-CONTRACT-18] the facts hold for honest artifacts and not for empty ones', async () => {
    const { contract } = await load()
    const environment = new Environment({ unlistedVariablesAreDyn: false }).registerVariable('artifacts', 'map')
    const honest = {
      plan_document: { implementation_steps: ['a'] },
      scope_definition: { in_scope: ['a'], out_of_scope: ['b'] },
      test_files: { test_files: ['t'] },
      test_run_result: { command: 'pytest', exit_code: 1n },
      implementation_files: { files_created: ['a'] },
      completion_summary: { summary: 'Done', files_changed: ['a'] },
    }
    const facts = [...contract.phases.values()].flatMap((one) =>
      one.requiredArtifacts.flatMap(({ type, checks }) =>
        checks
          .filter((check) => check.check === 'expression')
          .map((check) => ({ type, when: String(check.params.when) })),
      ),
    )
    for (const { type, when } of facts) {
      expect(environment.evaluate(when, { artifacts: honest }), when).toBe(true)
      if (!when.includes('in artifacts') || when.startsWith('"plan_document"')) continue
      expect(environment.evaluate(when, { artifacts: { ...honest, [type]: {} } }), when).toBe(false)
    }
  })

  it('[REQ-CONTRACT-18] escalate_to_human is park, and string alerts become limits', async () => {
    const { contract, document } = await load()
    expect(contract.phases.get('OUTLINE')?.gates[0]).toMatchObject({ onTimeout: 'park', timeoutSeconds: 1200 })
    expect(document.monitoring).toMatchObject({
      alerts: [
        { condition: 'gate_block_rate', above: 0.5 },
        { condition: 'task_stuck_in_phase', above_seconds: 7200 },
      ],
    })
  })
})
