import {
  checked,
  choice,
  eachText,
  flag,
  globs,
  type Kind,
  list,
  names,
  positive,
  text,
  texts,
} from '../schema/kinds.js'
import { alwaysTrue, isEmpty, maybe, need, object, otherwise } from '../schema/object.js'
import { ALERT } from './read-alerts.js'

const TEST_PATTERNS = ['tests/**', '**/*.test.*', '**/*.spec.*', '**/__tests__/**']
const REPEAT_MAX = 20

const repeat = checked(
  positive,
  (times, bad) => {
    if (times > REPEAT_MAX) bad(`Tests are run at most ${REPEAT_MAX} times.`)
  },
  { maximum: REPEAT_MAX },
)

const testPatterns = checked(
  globs,
  (patterns, bad) => {
    if (patterns.length === 0) bad('With no patterns, no file would be a test.')
  },
  { minItems: 1 },
)

const INVERTED = object(
  'inverted',
  'Inverted',
  {
    max_seconds: maybe(positive, 'Seconds for the inverted run.', '300', {
      unset: 'three times the plain run, at least 60',
    }),
    strict: maybe(
      flag as Kind<true>,
      'Whether a criterion blocks when there are no rules for its language or assertion library.',
      'true',
      // Defaults are left out here and below: a contract that does not set them keeps its fingerprint.
      { unset: '`false`', isNone: (isStrict) => !isStrict },
    ),
  },
  { words: 'a map' },
)

const INVERTED_REMEDY =
  'Write strict, or a map such as {max_seconds: 120, strict: true}. To do without the inverted run, remove the check tests_can_fail; to be warned only, give it severity: warning.'

/** `inverted: strict`, or a map. */
const inverted: typeof INVERTED = {
  ...INVERTED,
  json: { oneOf: [{ const: 'strict' }, INVERTED.json] },
  words: '`strict` or a map',
  read: (node, scope) => {
    if (node.kind !== 'scalar') return INVERTED.read(node, scope)
    if (node.value !== 'strict')
      scope.reading.report({
        code: 'contract.invalid_value',
        at: node.at,
        message: `tests.inverted cannot be '${node.value ?? ''}'.`,
        remedy: INVERTED_REMEDY,
      })
    return { strict: true }
  },
}

export const TESTS = object('tests', 'Tests', {
  patterns: otherwise(testPatterns, 'Which files are tests.', '["tests/**"]', { fallback: TEST_PATTERNS }),
  allow_changes: otherwise(flag, 'Whether tests may change after RED.', 'false', { fallback: false }),
  may_write: maybe(globs, 'Data files beside tests that a run of the tests may write.', '["tests/*.json"]', {
    isNone: (patterns) => patterns.length === 0,
  }),
  baseline: maybe(
    choice(['tolerate', 'forbid'] as const),
    'Whether tests that [failed or were skipped when the task began](evidence-red-green.md#the-baseline) may still do so at GREEN.',
    'forbid',
    { unset: '`tolerate`', isNone: (mode) => mode === 'tolerate' },
  ),
  repeat: maybe(
    repeat,
    'How often the tests are run on one tree, at most 20, to find [flaky ones](evidence-red-green.md#flaky-tests).',
    '3',
    { unset: '`1`', isNone: (times) => times === 1 },
  ),
  inverted: maybe(
    inverted,
    'How new tests are [run inverted](inverted-run.md#at-the-gate) by `tests_can_fail`.',
    'strict',
    { isNone: isEmpty },
  ),
})

const HOST_PATTERN = '^(\\*\\.)?[A-Za-z0-9.-]+(:[0-9]+)?$'

const hosts = eachText((host) => (new RegExp(HOST_PATTERN).test(host) ? null : `'${host}' is not a host name.`), {
  json: { pattern: HOST_PATTERN },
  words: 'list of hosts',
  remedy: 'Write a host such as docs.python.org.',
})

export const WEB = object('web', 'Web', {
  allowed_hosts: otherwise(
    hosts,
    'The hosts `web_fetch` may ask: `host` on its default ports, `host:port`, `*.host` for every name below it.',
    '[docs.python.org]',
    { fallback: [] },
  ),
})

const CRASH_DIFFERS =
  'Nothing acknowledged is lost: after a crash work resumes from the last event, not from a checkpoint.'

const AGENT_CRASH = object('agent_crash', 'Agent crash', {
  action: otherwise(
    choice(['retry', 'park', 'escalate_to_human'] as const),
    '`escalate_to_human` is another word for park.',
    'retry',
    { fallback: 'retry' },
  ),
  max_retries: otherwise(positive, 'How often the task can be claimed again; after that it is parked.', '3', {
    fallback: 3,
  }),
  backoff_seconds: otherwise(
    positive,
    'How long the task cannot be claimed after a crash; multiplied by the number of crashes.',
    '60',
    {
      fallback: 60,
    },
  ),
})

const ORCHESTRATOR_CRASH = object('orchestrator_crash', 'Orchestrator crash', {
  resume_from: maybe(
    text,
    'Work resumes from the last event whatever this says; setting it causes a warning.',
    'last_checkpoint',
    { differs: CRASH_DIFFERS },
  ),
  checkpoint_interval_seconds: maybe(positive, 'Every event is durable; setting it causes a warning.', '300', {
    differs: CRASH_DIFFERS,
  }),
})

const GATE_TIMEOUT = object('gate_timeout', 'Gate time-out', {
  action: otherwise(
    choice(['park', 'reject', 'escalate_to_human'] as const),
    "The default of every gate's `on_timeout`; `escalate_to_human` is another word for park.",
    'park',
    { fallback: 'park' },
  ),
  preserve_state: alwaysTrue('State is always kept when a gate times out.'),
})

export const RECOVERY = object('recovery', 'Recovery', {
  agent_crash: maybe(AGENT_CRASH, 'When an agent dies.', '{max_retries: 3}'),
  orchestrator_crash: maybe(ORCHESTRATOR_CRASH, 'When Phaselock dies.', '{}'),
  gate_timeout: maybe(GATE_TIMEOUT, 'When a gate takes too long.', '{action: park}', { unset: 'park' }),
})

const EXPORT = object('export', 'Export', {
  type: otherwise(
    choice(['jsonl', 'prometheus'] as const),
    'Metrics are served in the format of Prometheus; `jsonl` causes a warning.',
    'jsonl',
    {
      fallback: 'jsonl',
      differs: (type) =>
        type === 'jsonl' ? 'Metrics are served in the format of Prometheus, not as lines of JSON.' : null,
    },
  ),
  path: maybe(text, 'No file is written; setting it causes a warning.', 'metrics.jsonl', {
    words: 'path',
    differs: 'Metrics are served by the server; no file is written.',
  }),
})

const METRICS_DIFFER =
  'The list has no effect: GET /metrics and GET /metrics/summary always serve everything that is counted.'

export const MONITORING = object('monitoring', 'Monitoring', {
  metrics: maybe(names, 'Everything is always measured; setting it causes a warning.', '[gate_pass_rate]', {
    differs: (names) => (names.length === 0 ? null : METRICS_DIFFER),
  }),
  export: maybe(EXPORT, 'Where metrics go.', '{type: jsonl}'),
  alerts: maybe(list(ALERT), 'When to raise an alert.', '[{condition: "gate_block_rate > 50%"}]'),
})

export const KNOWLEDGE = object('knowledge', 'Knowledge', {
  sources: need(texts, 'The documents that are indexed.', '["docs/**/*.md"]', { words: 'list of globs' }),
})
