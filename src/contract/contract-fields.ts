import { AGENT } from './read/read-agents.js'
import { COORDINATION } from './read/read-coordination.js'
import { ENFORCEMENT, ENFORCEMENT_DEFAULT } from './read/read-enforcement.js'
import { GATE } from './read/read-gates.js'
import { GIT } from './read/read-git.js'
import { NODE, PHASE } from './read/read-phases.js'
import { COMMAND, MCP_SERVER, TOOL } from './read/read-services.js'
import { KNOWLEDGE, MONITORING, RECOVERY, TESTS, WEB } from './read/read-settings.js'
import { TRANSITION } from './read/read-transitions.js'
import { WEBHOOK } from './read/read-webhooks.js'
import {
  described,
  describedAs,
  filled,
  flag,
  ID_PATTERN,
  type Kind,
  list,
  mapOf,
  NAME_PATTERN,
  text,
  texts,
} from './schema/kinds.js'
import { buildDefaults, isEmpty, maybe, otherwise, unkept } from './schema/object.js'

function named<T>(item: Kind<T>): Kind<Record<string, T>> {
  return mapOf(item, { names: NAME_PATTERN, remedy: 'Use 1 to 64 of A-Z, a-z, 0-9, _ and -.' })
}

function byId(item: Kind<unknown>) {
  return { type: 'object', propertyNames: { type: 'string', pattern: ID_PATTERN }, additionalProperties: item.json }
}

const orNothing = (kind: Kind<unknown>): Kind<unknown> => ({ ...kind, json: { oneOf: [kind.json, { type: 'null' }] } })
const phases = described(
  {
    oneOf: [
      { type: 'array', minItems: 1, items: { allOf: [PHASE.json, { required: ['id'] }] } },
      { ...byId(orNothing(PHASE)), minProperties: 1 },
    ],
  },
  `list or map of ${PHASE.words}`,
  [PHASE],
)
const nodes = described({ ...byId(orNothing(NODE)), minProperties: 1 }, `map of ${NODE.words}`, [NODE])
const guides = described(
  { oneOf: [filled.json, { type: 'object', additionalProperties: { type: 'string' } }] },
  'folder, or map of texts',
)
const schemas = described(
  { type: 'object', additionalProperties: { type: ['object', 'boolean'] } },
  'map of JSON Schemas',
)

const none = { isNone: isEmpty }

/** Fields of a contract with the same meaning whether its phases are written in YAML or in documents. */
const COMMON = {
  commands: maybe(
    named(COMMAND),
    'Commands that Phaselock itself runs to observe facts.',
    '{tests: {run: npm test}}',
    none,
  ),
  mcp_servers: maybe(
    named(MCP_SERVER),
    'Upstream MCP servers. Their tools are listed as `server.tool`.',
    '{github: {command: npx}}',
    none,
  ),
  tools: maybe(
    named(TOOL),
    'Own tools: a fixed command with typed arguments.',
    '{lint: {command: [npx, eslint]}}',
    none,
  ),
  agents: maybe(named(AGENT), 'How agents are started.', '{coder: {harness: claude-code}}', none),
  enforcement: otherwise(ENFORCEMENT, 'How strict Phaselock is, and its limits.', '{mode: strict}', {
    fallback: ENFORCEMENT_DEFAULT,
    unset: 'strict',
  }),
  tests: otherwise(TESTS, 'Which files are tests, and whether they may change after RED.', '{patterns: ["tests/**"]}', {
    fallback: buildDefaults(TESTS.fields),
    unset: 'see there',
  }),
  web: otherwise(WEB, 'What `web_fetch` may reach.', '{allowed_hosts: [docs.python.org]}', {
    fallback: buildDefaults(WEB.fields),
    unset: 'no hosts',
  }),
  agent_startable: otherwise(flag, 'Whether agents may start tasks of this contract themselves.', 'false', {
    fallback: false,
  }),
  guides: maybe(
    guides,
    'Where `{{guide:NAME}}` is looked up (`NAME.md` in this folder, relative to the contract); or the guides themselves, by name.',
    'docs/guides',
    { unset: '`guides`' },
  ),
  recovery: maybe(RECOVERY, 'What happens when something fails.', '{gate_timeout: {action: park}}', { unset: 'park' }),
  monitoring: maybe(MONITORING, 'What is measured, and when to raise an alert.', '{alerts: []}', none),
  webhooks: maybe(
    list(WEBHOOK),
    'Addresses that receive events.',
    '[{url: "https://example.org", events: [task_parked]}]',
    none,
  ),
  git: maybe(GIT, "How agents' commits are made.", '{hooks: run}', { unset: "operator's author, hooks skipped" }),
  knowledge: maybe(KNOWLEDGE, 'Documents that agents can search.', '{sources: ["docs/**/*.md"]}'),
  coordination: maybe(COORDINATION, 'How several agents work together.', '{}', none),
  schemas: maybe(
    schemas,
    'Schemas by file name, for `required_artifacts` to name. 2020-12, or draft-07 by `$schema`.',
    '{plan.json: {type: object}}',
  ),
  schemas_dir: maybe(filled, 'Another folder in which schema files are looked up.', '.orchestrator/schemas', {
    words: 'folder',
  }),
}
export const COMMON_KEYS: readonly string[] = Object.keys(COMMON)

const bases = described(
  { oneOf: [filled.json, { type: 'array', items: filled.json, minItems: 1 }] },
  'name or path, or a list of them',
)

/** The fields of a contract. */
export const CONTRACT_FIELDS = {
  extends: unkept(
    bases,
    'What the contract builds on: a preset or bundled workflow (`phaselock/…`), a file, or several of them. See [extends.md](extends.md).',
    '[phaselock/tdd, phaselock/typescript-vitest]',
  ),
  without: unkept(
    texts,
    'What to leave out of the base, by path: `phases.REVIEW`, `transitions.REVIEW->COMPLETE`.',
    '[phases.REVIEW]',
    { words: 'list of paths' },
  ),
  name: maybe(filled, 'The name of the workflow.', 'tdd', { unset: 'required (in `nodes:` files: `mode`)' }),
  version: maybe(filled, 'The version of the workflow, chosen by its author. A text: put it in quotes.', '"1.0"', {
    unset: 'required (in `nodes:` files: `"1"`)',
  }),
  description: maybe(text, 'What the workflow is for.', 'Plan, red, green.'),
  phases: maybe(phases, 'The phases in order; or a map from id to phase.', '[{id: PLAN}]', {
    unset: 'required, or `nodes`',
  }),
  nodes: maybe(
    nodes,
    'Phases in the form of a nodes file. A contract has either `phases` or `nodes`.',
    '{code: {prompt: …}}',
  ),
  summary: maybe(text, 'Another word for `description`, as `nodes:` files use it.', 'A quick loop.'),
  mode: maybe(
    filled,
    'A label that is kept with the run. It does not set how strict Phaselock is: that is `enforcement.mode`.',
    'discovery',
  ),
  start_node: maybe(
    { read: text.read, words: 'id', json: { type: 'string', pattern: ID_PATTERN } },
    'The phase a task starts in.',
    'spec',
    { unset: 'the first phase' },
  ),
  gates: unkept(
    described(byId(GATE), `map of ${GATE.words}`, [GATE]),
    'Gates by id, for phases and transitions to name. A gate that nothing names does not load.',
    '{plan_approval: {type: approval}}',
  ),
  transitions: maybe(
    describedAs(list(TRANSITION)),
    'Which phase may follow which. The first that matches wins.',
    '[{from: PLAN, to: TDD}]',
    { unset: 'phases in order' },
  ),
  ...COMMON,
}
