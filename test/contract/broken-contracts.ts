/** A contract that does not load. `¦` marks the place that the diagnostic must point at; it is taken out before loading. */
export interface BrokenContract {
  readonly name: string
  readonly code: string
  readonly text: string
  readonly kind?: string
  readonly extra?: Readonly<Record<string, string | number>>
  readonly severity?: 'warning'
  /** The JSON Schema of the format refuses it too. */
  readonly isShape?: true
  /** Part of the message or the remedy. */
  readonly says?: string
}

const HEAD = 'name: t\nversion: "1"\n'
const ONE = `${HEAD}phases:\n  - id: A\n`
const phase = (lines: string): string => `${ONE}${lines}`
const TWO = `${HEAD}phases:\n  - {id: A}\n  - {id: B}\n`
const gate = (lines: string): string => `${ONE}    gates:\n      - id: g\n${lines}`
const blocker = (line: string): string => gate(`        type: validation\n        blockers:\n          - ${line}\n`)
const rule = (line: string): string => phase(`    rules:\n      - ${line}\n`)
const evidence = (line: string): string => phase(`    checkpoint:\n      evidence:\n        f: ${line}\n`)

const files: readonly BrokenContract[] = [
  { name: 'an empty file', code: 'contract.empty', text: '¦' },
  { name: 'a file with only a comment', code: 'contract.empty', text: '¦# nothing\n' },
  { name: 'a scalar at the top', code: 'contract.wrong_type', text: '¦just words\n', isShape: true },
  { name: 'a list at the top', code: 'contract.wrong_type', text: '¦- a\n', isShape: true },
  { name: 'two documents', code: 'contract.multiple_documents', text: `${TWO}¦---\nname: u\n` },
  { name: 'a NUL byte', code: 'contract.nul_byte', text: 'name: a¦\0b\n' },
  { name: 'a byte order mark', code: 'contract.byte_order_mark', text: `¦\uFEFF${TWO}` },
  { name: 'a broken flow list', code: 'contract.invalid_yaml', text: 'name: t\nphases: [a\n¦b: 1\n' },
  { name: 'tabs as indentation', code: 'contract.invalid_yaml', text: 'name: t\nphases:\n¦\t- id: A\n' },
  { name: 'an unknown tag', code: 'contract.unknown_tag', text: 'name: ¦!secret t\n' },
  { name: 'a binary tag', code: 'contract.unknown_tag', text: 'name: ¦!!binary aGVsbG8=\n' },
  { name: 'an alias without an anchor', code: 'contract.invalid_yaml', text: 'name: ¦*nobody\nversion: "1"\n' },
  { name: 'an alias bomb', code: 'contract.alias_limit', text: aliasBomb() },
  {
    name: 'a value nested too deeply',
    code: 'contract.too_deep',
    text: `name: ${'['.repeat(63)}¦[${']'.repeat(64)}\n`,
  },
  { name: 'a list nested too deeply in blocks', code: 'contract.too_deep', text: `${'- '.repeat(64)}¦- a\n` },
  { name: 'a key written twice', code: 'contract.duplicate_key', text: `${HEAD}phases:\n  - id: A\n    ¦id: B\n` },
  { name: 'a top-level key written twice', code: 'contract.duplicate_key', text: `${TWO}¦name: u\n` },
  { name: 'a value that is no JSON', code: 'contract.invalid_value', text: phase('    name: ¦.inf\n') },
]

const shape: readonly BrokenContract[] = [
  { name: 'no phases at all', code: 'contract.no_phases', text: `¦${HEAD}`, isShape: true },
  { name: 'an empty list of phases', code: 'contract.no_phases', text: `${HEAD}phases: ¦[]\n`, isShape: true },
  { name: 'an empty map of nodes', code: 'contract.no_phases', text: `${HEAD}nodes: ¦{}\n`, isShape: true },
  {
    name: 'phases and nodes together',
    code: 'contract.invalid_value',
    text: `${TWO}nodes:\n  ¦c: {prompt: x}\n`,
    isShape: true,
  },
  { name: 'phases as a text', code: 'contract.wrong_type', text: `${HEAD}phases: ¦PLAN\n`, isShape: true },
  { name: 'a missing name', code: 'contract.missing_field', text: '¦version: "1"\nphases: [{id: A}]\n', isShape: true },
  {
    name: 'an empty name',
    code: 'contract.invalid_value',
    text: 'name: ¦""\nversion: "1"\nphases: [{id: A}]\n',
    isShape: true,
  },
  { name: 'a missing version', code: 'contract.missing_field', text: '¦name: t\nphases: [{id: A}]\n', isShape: true },
  {
    name: 'a version that is a number',
    code: 'contract.wrong_type',
    text: 'name: t\nversion: ¦1.0\nphases: [{id: A}]\n',
    isShape: true,
    says: 'quotes',
  },
  {
    name: 'an unknown top-level key',
    code: 'contract.unknown_key',
    text: `${TWO}¦transition: []\n`,
    isShape: true,
    says: "Did you mean 'transitions'?",
  },
  {
    name: 'an unknown key of a phase',
    code: 'contract.unknown_key',
    text: phase('    ¦allowed_tool: [grep]\n'),
    isShape: true,
    says: "Did you mean 'allowed_tools'?",
  },
  { name: 'a prototype key', code: 'contract.unknown_key', text: phase('    ¦__proto__: {x: 1}\n'), isShape: true },
  {
    name: 'a phase without an id',
    code: 'contract.missing_field',
    text: `${HEAD}phases:\n  - ¦name: A\n`,
    isShape: true,
  },
  {
    name: 'a phase id with a space',
    code: 'contract.invalid_id',
    text: `${HEAD}phases:\n  - id: ¦"A B"\n`,
    isShape: true,
  },
  {
    name: 'a phase id of 65 characters',
    code: 'contract.invalid_id',
    text: `${HEAD}phases:\n  - id: ¦${'x'.repeat(65)}\n`,
    isShape: true,
  },
  { name: 'an id that differs from its key', code: 'contract.invalid_value', text: `${HEAD}phases:\n  A: {id: ¦B}\n` },
  {
    name: 'tools that are no list',
    code: 'contract.wrong_type',
    text: phase('    allowed_tools: ¦grep\n'),
    isShape: true,
  },
  {
    name: 'a tool that is a number',
    code: 'contract.wrong_type',
    text: phase('    allowed_tools: [¦1]\n'),
    isShape: true,
  },
  { name: 'a prompt that is a map', code: 'contract.wrong_type', text: phase('    prompt: ¦{a: 1}\n'), isShape: true },
  {
    name: 'an artifact without a type',
    code: 'contract.missing_field',
    text: phase('    required_artifacts:\n      - ¦description: x\n'),
    isShape: true,
  },
  {
    name: 'an artifact required twice',
    code: 'contract.duplicate_id',
    text: phase('    required_artifacts: [{type: a}, {type: ¦a}]\n'),
  },
  {
    name: 'an absolute glob',
    code: 'contract.invalid_value',
    text: phase('    writable: [¦/etc/**]\n'),
    isShape: true,
  },
  { name: 'a glob that leaves the tree', code: 'contract.invalid_value', text: phase('    writable: [¦../x]\n') },
  {
    name: 'commands for a tool that is no shell',
    code: 'contract.invalid_value',
    text: phase('    allowed_tools: [grep]\n    tool_constraints:\n      grep: {allowed_commands: ¦[ls]}\n'),
  },
  {
    name: 'paths for bash',
    code: 'contract.invalid_value',
    text: phase('    allowed_tools: [bash]\n    tool_constraints:\n      bash: {allowed_patterns: ¦["a/**"]}\n'),
  },
  {
    name: 'a negative time limit of a tool',
    code: 'contract.not_positive',
    text: phase('    allowed_tools: [bash]\n    tool_constraints: {bash: {timeout_seconds: ¦-1}}\n'),
    isShape: true,
  },
]

const graph: readonly BrokenContract[] = [
  {
    name: 'two phases with one id',
    code: 'contract.duplicate_id',
    text: `${HEAD}phases:\n  - {id: A}\n  - {id: ¦A}\n`,
  },
  {
    name: 'a transition to an unknown phase',
    code: 'contract.unknown_phase',
    text: `${TWO}transitions:\n  - {from: A, to: ¦C}\n`,
    says: 'Known phases: A, B',
  },
  {
    name: 'a transition from an unknown phase',
    code: 'contract.unknown_phase',
    text: `${TWO}transitions:\n  - {from: ¦C, to: B}\n`,
  },
  {
    name: 'a transition to a prototype name',
    code: 'contract.unknown_phase',
    text: `${TWO}transitions:\n  - {from: A, to: ¦constructor}\n`,
  },
  { name: 'an unknown start node', code: 'contract.unknown_phase', text: `${TWO}start_node: ¦Z\n` },
  {
    name: 'a phase that cannot be reached',
    code: 'contract.unreachable_phase',
    text: `${HEAD}phases: [{id: A}, {id: B}, {id: ¦C}]\ntransitions:\n  - {from: A, to: B}\n`,
  },
  {
    name: 'a loop without an end',
    code: 'contract.no_terminal_phase',
    text: `${HEAD}phases: [{id: ¦A}, {id: B}]\ntransitions:\n  - {from: A, to: B}\n  - {from: B, to: A}\n`,
  },
  {
    name: 'a transition written twice',
    code: 'contract.duplicate_transition',
    text: `${TWO}transitions:\n  - {from: A, to: B}\n  - ¦{from: A, to: B}\n`,
  },
  {
    name: 'a transition without a target',
    code: 'contract.missing_field',
    text: `${TWO}transitions:\n  - ¦from: A\n`,
    isShape: true,
  },
  {
    name: 'a nodes file that never ends',
    code: 'contract.no_terminal_phase',
    text: 'mode: m\nnodes:\n  ¦a:\n    transitions: [{when: x, to: restart_cycle}]\n',
  },
  {
    name: 'an unknown trigger',
    code: 'contract.invalid_value',
    text: `${TWO}transitions:\n  - {from: A, to: B, triggers: [{action: ¦explode}]}\n`,
    isShape: true,
  },
]

const gates: readonly BrokenContract[] = [
  {
    name: 'a gate without a type',
    code: 'contract.missing_field',
    text: `${ONE}    gates:\n      - ¦id: g\n`,
    isShape: true,
  },
  {
    name: 'an unknown gate type',
    code: 'contract.invalid_value',
    text: gate('        type: ¦vote\n'),
    isShape: true,
    says: 'approval, validation',
  },
  {
    name: 'two gates with one id',
    code: 'contract.duplicate_id',
    text: gate('        type: validation\n      - id: ¦g\n        type: validation\n'),
  },
  {
    name: 'a transition held by an unknown gate',
    code: 'contract.unknown_gate',
    text: `${TWO}transitions:\n  - {from: A, to: B, gate: ¦nope}\n`,
  },
  { name: 'a phase that names an unknown gate', code: 'contract.unknown_gate', text: phase('    gates: [¦nope]\n') },
  {
    name: 'a shared gate that nothing names',
    code: 'contract.unused_gate',
    text: `${TWO}gates:\n  ¦g: {type: validation}\n`,
  },
  {
    name: 'a gate that no transition is held by',
    code: 'contract.unused_gate',
    text: `${HEAD}phases:\n  - id: A\n    gates: [{id: g, type: validation}, {id: ¦h, type: validation}]\n  - id: B\ntransitions: [{from: A, to: B, gate: g}]\n`,
  },
  {
    name: 'an empty list of approvers',
    code: 'contract.no_approver',
    text: gate('        type: approval\n        approvers: ¦[]\n'),
    isShape: true,
  },
  {
    name: 'more approvals than the orchestrator can give',
    code: 'contract.no_approver',
    text: gate('        type: approval\n        approvers: [orchestrator]\n        min_approvals: ¦2\n'),
    isShape: true,
  },
  {
    name: 'approvers on a validation gate',
    code: 'contract.invalid_value',
    text: gate('        type: validation\n        approvers: ¦[human]\n'),
    isShape: true,
  },
  {
    name: 'an approval that advances by itself',
    code: 'contract.invalid_value',
    text: gate('        type: approval\n        auto_advance: ¦true\n'),
    isShape: true,
  },
  {
    name: 'no approvals demanded',
    code: 'contract.not_positive',
    text: gate('        type: approval\n        min_approvals: ¦0\n'),
    isShape: true,
  },
  {
    name: 'a time limit of zero',
    code: 'contract.not_positive',
    text: gate('        type: approval\n        timeout_seconds: ¦0\n'),
    isShape: true,
  },
  {
    name: 'an unknown time-out action',
    code: 'contract.invalid_value',
    text: gate('        type: approval\n        on_timeout: ¦approve\n'),
    isShape: true,
  },
  {
    name: 'an unknown check',
    code: 'contract.unknown_check',
    text: blocker('{check: ¦all_test_pass}'),
    isShape: true,
    says: "Did you mean 'all_tests_pass'?",
  },
  {
    name: 'a check that is named like a prototype member',
    code: 'contract.unknown_check',
    text: blocker('{check: ¦toString}'),
    isShape: true,
  },
  {
    name: 'an unknown validation rule',
    code: 'contract.unknown_check',
    text: phase('    required_artifacts:\n      - {type: a, validation: [{rule: ¦is_nice}]}\n'),
    isShape: true,
  },
  {
    name: 'an unknown severity',
    code: 'contract.unknown_severity',
    text: blocker('{check: work_tree_clean, severity: ¦fatal}'),
    isShape: true,
    says: 'blocking, warning, info',
  },
  {
    name: 'a check whose artifact nothing requires',
    code: 'contract.missing_artifact_for_check',
    text: blocker('{check: ¦all_tests_pass}'),
  },
  {
    name: 'a check whose artifact only a later phase requires',
    code: 'contract.missing_artifact_for_check',
    text: `${HEAD}phases:\n  - id: A\n    gates: [{id: g, type: validation, blockers: [{check: ¦plan_has_acceptance_criteria}]}]\n  - id: B\n    required_artifacts: [{type: plan_document}]\n`,
  },
  {
    name: 'a parameter that the check does not take',
    code: 'contract.unknown_key',
    text: blocker('{check: work_tree_clean, threshold: ¦80}'),
    isShape: true,
  },
  {
    name: 'coverage without a threshold',
    code: 'contract.missing_field',
    text: blocker('¦{check: coverage_threshold_met}'),
    isShape: true,
  },
  {
    name: 'a threshold of zero',
    code: 'contract.not_positive',
    text: blocker('{check: coverage_threshold_met, threshold: ¦0}'),
    isShape: true,
  },
  {
    name: 'a command check without a command',
    code: 'contract.missing_field',
    text: blocker('{check: ¦command_succeeds}'),
    isShape: true,
  },
  {
    name: 'a command that is not defined',
    code: 'contract.unknown_command',
    text: blocker('{check: command_succeeds, command: ¦lint}'),
  },
  {
    name: 'a pattern that is no regular expression',
    code: 'contract.invalid_regex',
    text: blocker('{check: no_pattern, pattern: ¦"[a", paths: ["src/**"]}'),
  },
  {
    name: 'a pattern with a look-ahead',
    code: 'contract.invalid_regex',
    text: blocker('{check: no_pattern, pattern: ¦"a(?=b)", paths: ["src/**"]}'),
  },
  {
    name: 'an expression that does not parse',
    code: 'contract.invalid_expression',
    text: blocker('{check: expression, when: ¦"1 +"}'),
  },
  {
    name: 'an expression over an unknown variable',
    code: 'contract.invalid_expression',
    text: blocker('{check: expression, when: ¦"secrets.x == 1"}'),
    says: 'artifacts, evidence, task, observed, changes',
  },
  {
    name: 'an expression that gives no truth value',
    code: 'contract.invalid_expression',
    text: blocker('{check: expression, when: ¦"1 + 1"}'),
  },
  {
    name: 'an expression over an artifact that nothing requires',
    code: 'contract.missing_artifact_for_check',
    text: blocker('{check: expression, when: ¦"artifacts.nope.x == 1"}'),
  },
]

const tools: readonly BrokenContract[] = [
  {
    name: 'an unknown tool',
    code: 'contract.unknown_tool',
    text: phase('    allowed_tools: [¦read_file]\n'),
    says: "Did you mean 'read_files'?",
  },
  { name: 'an unknown forbidden tool', code: 'contract.unknown_tool', text: phase('    forbidden_tools: [¦shell]\n') },
  {
    name: 'a constraint of an unknown tool',
    code: 'contract.unknown_tool',
    text: phase('    tool_constraints:\n      ¦shell: {network: false}\n'),
  },
  {
    name: 'a tool of a server that is not configured',
    code: 'contract.unknown_tool',
    text: phase('    allowed_tools: [¦github.create_issue]\n'),
  },
  {
    name: 'an own tool that hides a built-in one',
    code: 'contract.duplicate_id',
    text: `${TWO}tools:\n  ¦bash: {command: [sh]}\n`,
  },
  {
    name: 'an own tool with an unknown argument',
    code: 'contract.invalid_value',
    text: `${TWO}tools:\n  lint: {command: [eslint, ¦"{path}"]}\n`,
  },
  {
    name: 'a spawned agent that is not defined',
    code: 'contract.unknown_agent',
    text: phase('    auto_spawn: [{agent: ¦ghost}]\n'),
  },
  {
    name: 'a voter that is not defined',
    code: 'contract.unknown_agent',
    text: phase('    consensus: {agents: [¦ghost], question: ok}\n'),
  },
  {
    name: 'a quorum above the number of voters',
    code: 'contract.invalid_value',
    text: `${phase('    consensus: {agents: [a], question: ok, quorum: ¦2}\n')}agents: {a: {harness: codex}}\n`,
  },
  {
    name: 'an unknown harness',
    code: 'contract.invalid_value',
    text: `${TWO}agents:\n  a: {harness: ¦emacs}\n`,
    isShape: true,
  },
]

const rules: readonly BrokenContract[] = [
  {
    name: 'an unknown rule named by its key',
    code: 'contract.unknown_rule_type',
    kind: 'UnknownRuleType',
    extra: { rule_id: 'A[0]', type_name: 'too_slow' },
    text: rule('¦too_slow: {max: 1}'),
    isShape: true,
    says: 'token_budget',
  },
  {
    name: 'an unknown rule named by its type',
    code: 'contract.unknown_rule_type',
    kind: 'UnknownRuleType',
    extra: { rule_id: 'A[0]', type_name: 'too_slow' },
    text: rule('{type: ¦too_slow}'),
    isShape: true,
  },
  {
    name: 'a rule pattern that does not compile',
    code: 'contract.invalid_rule_pattern',
    kind: 'InvalidRulePattern',
    extra: { rule_id: 'A[0]', pattern: '[invalid(' },
    text: rule('repeated_command: {pattern: ¦"[invalid(", threshold: 3, window: 60}'),
  },
  {
    name: 'a path pattern with a back-reference',
    code: 'contract.invalid_rule_pattern',
    kind: 'InvalidRulePattern',
    extra: { rule_id: 'A[0]' },
    text: rule('{type: repeated_file_edit, path_pattern: ¦"(a)\\\\1", threshold: 3, window: 60}'),
  },
  {
    name: 'a token budget of zero',
    code: 'contract.invalid_rule_threshold',
    kind: 'InvalidRuleThreshold',
    extra: { rule_id: 'A[0]', value: 0 },
    text: rule('token_budget: {max_tokens: ¦0}'),
    isShape: true,
  },
  {
    name: 'a negative window',
    code: 'contract.invalid_rule_threshold',
    kind: 'InvalidRuleThreshold',
    extra: { rule_id: 'A[0]', value: -10 },
    text: rule('repeated_command: {threshold: 3, window: ¦-10}'),
    isShape: true,
  },
  {
    name: 'a duration that is no whole number',
    code: 'contract.invalid_rule_threshold',
    kind: 'InvalidRuleThreshold',
    extra: { value: 1.5 },
    text: rule('phase_timeout: {max_duration: ¦1.5}'),
    isShape: true,
  },
  {
    name: 'a threshold that is a text',
    code: 'contract.invalid_rule_threshold',
    kind: 'InvalidRuleThreshold',
    extra: { value: 'many' },
    text: rule('repeated_command: {threshold: ¦many, window: 1}'),
    isShape: true,
  },
  {
    name: 'a rule without its field',
    code: 'contract.missing_field',
    extra: { rule_id: 'A[0]', field: 'window' },
    text: rule('¦repeated_command: {threshold: 3}'),
    isShape: true,
  },
  {
    name: 'a rule without a type',
    code: 'contract.missing_field',
    text: rule('¦{max_tokens: 3, shadow: true}'),
    isShape: true,
  },
  {
    name: 'an unknown key of a rule',
    code: 'contract.unknown_key',
    text: rule('token_budget: {max_tokens: 3, ¦max: 4}'),
    isShape: true,
  },
]

const settings: readonly BrokenContract[] = [
  {
    name: 'an unknown mode',
    code: 'contract.unknown_mode',
    text: `${TWO}enforcement: {mode: ¦lax}\n`,
    isShape: true,
    says: 'strict, permissive, advisory',
  },
  {
    name: 'an expiry of zero',
    code: 'contract.not_positive',
    text: `${TWO}enforcement: {phase_tokens: {expiry_seconds: ¦0}}\n`,
    isShape: true,
  },
  {
    name: 'a negative denial budget',
    code: 'contract.not_positive',
    text: `${TWO}enforcement: {denial_budget: ¦-3}\n`,
    isShape: true,
  },
  {
    name: 'another signature algorithm',
    code: 'contract.invalid_value',
    text: `${TWO}enforcement: {phase_tokens: {algorithm: ¦none}}\n`,
    isShape: true,
  },
  {
    name: 'an unknown confinement',
    code: 'contract.invalid_value',
    text: `${TWO}enforcement: {confinement: ¦some}\n`,
    isShape: true,
  },
  { name: 'no test patterns', code: 'contract.invalid_value', text: `${TWO}tests: {patterns: ¦[]}\n`, isShape: true },
  {
    name: 'a host with a path',
    code: 'contract.invalid_value',
    text: `${TWO}web: {allowed_hosts: [¦"https://x.org/y"]}\n`,
    isShape: true,
  },
  {
    name: 'an unknown alert',
    code: 'contract.invalid_value',
    text: `${TWO}monitoring: {alerts: [{condition: ¦mood, above: 1}]}\n`,
    isShape: true,
  },
  {
    name: 'a webhook that is no address',
    code: 'contract.invalid_value',
    text: `${TWO}webhooks: [{url: ¦"ftp://x", events: [a]}]\n`,
    isShape: true,
  },
  {
    name: 'a command without a line to run',
    code: 'contract.missing_field',
    text: `${TWO}commands:\n  ¦tests: {format: tap}\n`,
    isShape: true,
  },
  {
    name: 'an evidence field of an unknown type',
    code: 'contract.invalid_value',
    text: evidence('{type: ¦text}'),
    isShape: true,
  },
  {
    name: 'a bound that the type does not have',
    code: 'contract.invalid_value',
    text: evidence('{type: string, min: ¦1}'),
    isShape: true,
  },
  {
    name: 'an evidence pattern that does not compile',
    code: 'contract.invalid_regex',
    text: evidence('{type: string, pattern: ¦"(a"}'),
  },
  {
    name: 'a demanded value of another type',
    code: 'contract.wrong_type',
    text: evidence('{type: integer, must_be: ¦yes}'),
  },
  {
    name: 'a least value above the greatest',
    code: 'contract.invalid_value',
    text: evidence('{type: integer, min: ¦5, max: 1}'),
  },
]

const contents: readonly BrokenContract[] = [
  {
    name: 'a schema that is not there',
    code: 'contract.missing_schema',
    text: phase('    required_artifacts: [{type: a, schema: ¦schemas/nope.json}]\n'),
  },
  {
    name: 'a schema path that leaves the folder',
    code: 'contract.missing_schema',
    text: phase('    required_artifacts: [{type: a, schema: ¦../secret.json}]\n'),
  },
  {
    name: 'an inline schema of an unknown type',
    code: 'contract.invalid_schema',
    text: `${phase('    required_artifacts: [{type: a, schema: a.json}]\n')}schemas:\n  a.json: ¦{type: thing}\n`,
  },
  {
    name: 'an inline schema with a remote reference',
    code: 'contract.invalid_schema',
    text: `${phase('    required_artifacts: [{type: a, schema: a.json}]\n')}schemas:\n  a.json: {$ref: ¦"https://example.org/x.json"}\n`,
  },
  {
    name: 'an inline schema of an unknown dialect',
    code: 'contract.invalid_schema',
    text: `${phase('    required_artifacts: [{type: a, schema: a.json}]\n')}schemas:\n  a.json: {$schema: ¦"http://json-schema.org/draft-04/schema#"}\n`,
  },
  {
    name: 'an inline schema with a bad pattern',
    code: 'contract.invalid_regex',
    text: `${phase('    required_artifacts: [{type: a, schema: a.json}]\n')}schemas:\n  a.json: {type: string, pattern: ¦"(?!x)"}\n`,
  },
  {
    name: 'an inline schema that refers to itself without end',
    code: 'contract.invalid_schema',
    text: `${phase('    required_artifacts: [{type: a, schema: a.json}]\n')}schemas:\n  a.json: ¦{$ref: "#"}\n`,
  },
  {
    name: 'a guide that is not there',
    code: 'contract.missing_guide',
    text: phase('    prompt: ¦"{{guide:STYLE}}"\n'),
  },
  {
    name: 'a guide of a nodes file that is not there',
    code: 'contract.missing_guide',
    text: 'mode: m\nnodes:\n  a: {prompt: ¦"{{STYLE}}"}\n',
  },
  {
    name: 'an unknown placeholder',
    code: 'contract.unresolvable_placeholder',
    text: phase('    prompt: ¦"{{task.owner}}"\n'),
  },
  {
    name: 'a bare placeholder in a phase',
    code: 'contract.unresolvable_placeholder',
    text: phase('    prompt: ¦"{{STYLE}}"\n'),
  },
  {
    name: 'a placeholder of an artifact that nothing requires',
    code: 'contract.unresolvable_placeholder',
    text: phase('    prompt: ¦"{{artifacts.plan_document.title}}"\n'),
  },
]

const warnings: readonly BrokenContract[] = [
  {
    name: 'a tool both allowed and forbidden',
    severity: 'warning',
    code: 'contract.tool_allowed_and_forbidden',
    text: phase('    allowed_tools: [bash]\n    forbidden_tools: [¦bash]\n'),
  },
  {
    name: 'an artifact that no allowed tool could produce',
    severity: 'warning',
    code: 'contract.unproducible_evidence',
    text: phase('    allowed_tools: [grep]\n    required_artifacts: [{type: ¦test_run_result}]\n'),
  },
  {
    name: 'a constraint of a tool that is not allowed',
    severity: 'warning',
    code: 'contract.unused_constraint',
    text: phase('    tool_constraints:\n      ¦bash: {network: false}\n'),
  },
  {
    name: 'human and orchestrator together',
    severity: 'warning',
    code: 'contract.human_decides',
    text: gate('        type: approval\n        approvers: ¦[human, orchestrator]\n'),
  },
  {
    name: 'a mode at the top that looks like enforcement',
    severity: 'warning',
    code: 'contract.effect_differs',
    text: `mode: ¦advisory\n${TWO}`,
  },
  {
    name: 'a transition without a token',
    severity: 'warning',
    code: 'contract.effect_differs',
    text: `${TWO}transitions: [{from: A, to: B, requires_token: ¦false}]\n`,
  },
]

export const BROKEN_CONTRACTS: readonly BrokenContract[] = [
  ...files,
  ...shape,
  ...graph,
  ...gates,
  ...tools,
  ...rules,
  ...settings,
  ...contents,
]
export const WARNED_CONTRACTS = warnings

function aliasBomb(): string {
  const lines = ['x-a: &a [1,1,1,1,1,1,1,1,1,1]']
  for (const [index, letter] of ['b', 'c', 'd', 'e', 'f'].entries()) {
    const before = 'abcdef'[index] ?? ''
    lines.push(`x-${letter}: &${letter} [${Array.from({ length: 10 }, () => `*${before}`).join(',')}]`)
  }
  return `${lines.join('\n')}\n`
}
