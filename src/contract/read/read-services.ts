import { BUILT_IN_TOOLS, HARNESS_TOOLS } from '../../core/tool-calls/built-in-tools.js'
import { ARG_NAME, findWordProblem, splitWord } from '../command-words.js'
import { findGlobProblem, isGlob } from '../patterns.js'
import { has } from '../schema/conditions.js'
import {
  checked,
  choice,
  filled,
  flag,
  globs,
  type Kind,
  mapOf,
  number,
  path,
  positive,
  type TypeOf,
  text,
  texts,
} from '../schema/kinds.js'
import { maybe, need, object, otherwise, type ReadOf } from '../schema/object.js'
import type { Fields } from './fields.js'
import { env } from './read-agents.js'
import type { Reading } from './reading.js'

export const FORMATS = [
  ...(['auto', 'tap', 'junit', 'vitest', 'jest', 'pytest', 'go', 'cargo', 'node', 'mocha'] as const),
  ...(['rspec', 'phpunit', 'maven', 'trx'] as const),
  ...(['lcov', 'cobertura'] as const),
]

const reportPath = checked({ ...path, words: 'path or glob' }, (given, bad) => {
  const problem = isGlob(given) ? findGlobProblem(given) : null
  if (problem !== null) bad(`The pattern '${given}' is refused: ${problem}.`)
})
const ADDRESS = '^(?:(?:127\\.0\\.0\\.1|localhost|\\[::1\\]):\\d{4,5}|/[^\\0]{1,100})$'

const address = checked(
  filled,
  (given, bad) => {
    const [, port = '1024'] = /^[^/].*:(\d+)$/.exec(given) ?? []
    if (!new RegExp(ADDRESS).test(given) || Number(port) < 1024 || Number(port) > 65535)
      bad(
        `'${given.slice(0, 80)}' is not a service of this machine.`,
        'Write 127.0.0.1 with a port from 1024 to 65535, or the absolute path of a socket.',
      )
  },
  { pattern: ADDRESS },
)

/** A service of the machine that a command may reach. */
const SERVICE = object('service', 'Services', {
  address: need(
    address,
    'Where it listens on this machine: a port of the loopback, which the command finds at the same address, or a socket, which it finds at `/run/phaselock/NAME.sock`.',
    '"127.0.0.1:5432"',
    { words: 'address' },
  ),
  start: maybe(
    filled,
    'Command that starts the service before a run if the service does not answer. It runs on the machine itself in `/`, not in the sandbox, and must return.',
    '"docker start shop-db"',
    { words: 'command line' },
  ),
  stop: maybe(filled, 'Command that stops the service after the run, if `start` started it.', '"docker stop shop-db"', {
    words: 'command line',
  }),
  ready: maybe(filled, 'Command that succeeds when the service is ready.', '"pg_isready -h 127.0.0.1"', {
    words: 'command line',
    unset: 'a connection is enough',
  }),
})
type ServiceDocument = TypeOf<typeof SERVICE>

/** The address alone is the short form. */
const service: Kind<ServiceDocument> = {
  ...SERVICE,
  read: (node, scope) => {
    if (node.kind !== 'scalar') return SERVICE.read(node, scope)
    const given = address.read(node, scope)
    return given === null ? null : { address: given }
  },
  json: { anyOf: [address.json, SERVICE.json] },
  words: `address or ${SERVICE.words}`,
  parts: SERVICE.parts ?? [],
}

const services = checked(mapOf(service, { names: '^[a-z]{1,20}$', remedy: 'Use 1 to 20 of a-z.' }), (given, bad) => {
  const all = Object.entries(given)
  const ports = all.flatMap(([, { address: at }]) => (at.startsWith('/') ? [] : [at.slice(at.lastIndexOf(':'))]))
  if (new Set(ports).size < ports.length) bad('Two services have the same port.')
  if (all.length > SERVICES_MAX) bad(`There are more than ${SERVICES_MAX} services.`)
  if (Object.hasOwn(given, 'report')) bad("The name 'report' is taken.", 'Use another name.')
})
const SERVICES_MAX = 6

/** A command that Phaselock runs itself to observe facts. */
export const COMMAND = object('command', 'Commands', {
  run: need(filled, 'What is run in the work tree.', '"npm test"', { words: 'command line' }),
  format: otherwise(choice(FORMATS), 'How results are read.', 'junit', { fallback: 'auto' }),
  report: maybe(
    reportPath,
    'The file the results are read from, or [a glob](test-reports.md#several-report-files) of files. Only what this run wrote counts.',
    '"**/surefire-reports/TEST-*.xml"',
    { unset: 'the output' },
  ),
  timeout_seconds: otherwise(positive, 'The longest a run may take.', '600', { fallback: 600 }),
  sigusr1: maybe(
    choice(['refuse', 'allow']),
    'Whether its processes may send SIGUSR1 ([why not](security.md#sigusr1-in-observed-runs)).',
    'allow',
    { unset: '`refuse`' },
  ),
  env: maybe(env, 'Environment variables.', '{CI: "1"}'),
  services: maybe(
    services,
    'Services of this machine that it may reach, by name ([more](own-repository.md#services)).',
    '{postgres: "127.0.0.1:5432"}',
    { unset: 'none' },
  ),
})
export type CommandDocument = TypeOf<typeof COMMAND>

const NETWORK = maybe(flag, 'Whether it may use the network.', 'true')
const TIMEOUT = maybe(positive, 'The longest a call may take.', '60')

/** Variables that may refer to the server's environment. */
const serverEnv = checked(env, (variables, _bad, { reading }) => {
  for (const [name, value] of Object.entries(variables)) {
    // A malformed reference would reach the server as literal text.
    const rest = value.replaceAll(/\$\{env:[A-Za-z_][A-Za-z0-9_]*\}/g, '')
    if (!rest.includes('${env:')) continue
    const message = `The value of ${name} has a broken reference.`
    reading.reportAt('contract.invalid_value', [variables, name], message, `Write \${env:NAME}.`)
  }
})

/** An upstream MCP server. */
export const MCP_SERVER = object(
  'mcp_server',
  'MCP servers',
  {
    command: maybe(filled, 'The server to start.', 'npx', { words: 'program', unset: 'this or `url`' }),
    args: maybe(texts, 'Its arguments.', '["-y", "a-server"]'),
    env: maybe(
      serverEnv,
      `Its environment. \`\${env:NAME}\` takes a variable of the orchestrator.`,
      `{TOKEN: "\${env:TOKEN}"}`,
    ),
    url: maybe(filled, 'A server that runs elsewhere.', '"https://example.org/mcp"', {
      words: 'address',
      unset: 'this or `command`',
    }),
    writable: maybe(globs, 'What it may change in the work tree.', '["docs/**"]', { unset: 'nothing' }),
    network: NETWORK,
    timeout_seconds: TIMEOUT,
  },
  {
    json: { oneOf: [has('command'), has('url')] },
    finish: (server, fields) => {
      if (fields.has('command') === fields.has('url')) fields.missing('command', MCP_SERVER.fields.command.example)
      if (server.url !== undefined) checkRemote(fields, server.url)
      return server
    },
  },
)
export type McpServerDocument = TypeOf<typeof MCP_SERVER>

function checkRemote(fields: Fields, url: string): void {
  const problem = url === '' ? null : findUrlProblem(url)
  const remedy = 'Write an address such as https://example.org/mcp.'
  if (problem !== null) fields.reportBad('url', 'contract.invalid_value', `The url ${problem}.`, remedy)
  for (const key of ['args', 'env', 'writable', 'network']) {
    if (!fields.has(key)) continue
    const message = `'${key}' has no effect on a server that runs elsewhere.`
    fields.reportBad(key, 'contract.invalid_value', message, `Remove ${key}, or start the server with command.`)
  }
}

function findUrlProblem(address: string): string | null {
  if (!URL.canParse(address)) return 'is not an address'
  const url = new URL(address)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'is not an http(s) address'
  return url.username === '' && url.password === '' ? null : 'carries a user name or a password'
}

const ARG_FIELDS = {
  type: otherwise(choice(['string', 'integer', 'number', 'boolean'] as const), 'The type of the value.', 'string', {
    fallback: 'string',
  }),
  path: maybe(
    choice(['read', 'write'] as const, 'read'),
    'It is a path that is read or written; constraints apply to it.',
    'read',
  ),
  description: maybe(text, 'Shown to the agent.', 'The file.'),
  optional: maybe(flag, 'Whether it may be left out.', 'true'),
  enum: maybe(texts, 'The values that are accepted.', '[fast, full]'),
  min: maybe(number, 'integer and number: the least value.', '1'),
  max: maybe(number, 'integer and number: the greatest value.', '100'),
}
type ToolArgDocument = ReadOf<typeof ARG_FIELDS>

const TOOL_ARG = object('tool_arg', 'Arguments of own tools', ARG_FIELDS, {
  words: '[arguments](#arguments-of-own-tools)',
  finish: (arg, fields) => {
    checkArg(fields, arg)
    return arg
  },
})

function checkArg(fields: Fields, { type, path, min, max, enum: accepted }: ToolArgDocument): void {
  const bad = (key: string, message: string): void => fields.reportBad(key, 'contract.invalid_value', message)
  if (path !== undefined && type !== 'string') bad('path', `A path is a string, not ${type}.`)
  for (const [key, bound] of Object.entries({ min, max }))
    if (bound !== undefined && type !== 'integer' && type !== 'number')
      bad(key, `'${key}' is for integer and number, not ${type}.`)
  if (min !== undefined && max !== undefined && min > max)
    bad('max', `'max' is ${max}, less than 'min', which is ${min}.`)
  if (accepted?.length === 0) bad('enum', 'With an empty enum no value would be accepted.')
}

/** An own tool: a fixed command with typed arguments. Its owner is its name. */
export const TOOL = object(
  'tool',
  'Own tools',
  {
    command: need(
      { ...texts, words: 'list of words' },
      'The command; `{name}` stands for an argument, in any word but the first.',
      '["npx", "eslint", "{path}"]',
    ),
    args: otherwise(
      mapOf(TOOL_ARG, { names: `^${ARG_NAME}$`, remedy: 'Use 1 to 64 of A-Z, a-z, 0-9 and _.' }),
      'The arguments, by name.',
      '{path: {type: string, path: read}}',
      { fallback: {}, unset: 'none' },
    ),
    description: otherwise(text, 'Shown to the agent.', 'Lint a file.', { fallback: '' }),
    network: NETWORK,
    timeout_seconds: TIMEOUT,
  },
  {
    finish: (tool, fields, { reading, owner }) => {
      if (owner !== null && (BUILT_IN_TOOLS.has(owner) || HARNESS_TOOLS.has(owner))) {
        const at = fields.node.keyAt ?? fields.node.at
        reading.report({ code: 'contract.duplicate_id', at, message: `'${owner}' is a built-in tool.` })
      }
      if (fields.has('command') && tool.command.length === 0)
        fields.reportBad(
          'command',
          'contract.invalid_value',
          'The command is empty.',
          'Write the program and its words.',
        )
      checkWords(reading, tool)
      return tool
    },
  },
)
export type ToolDocument = TypeOf<typeof TOOL>

function checkWords(reading: Reading, { command, args }: Pick<ToolDocument, 'command' | 'args'>): void {
  for (const [index, word] of command.entries()) {
    const message = findWordProblem(word, index, (arg) => (Object.hasOwn(args, arg) ? args[arg] : undefined))
    if (message === null) continue
    const remedy = 'A placeholder names an argument under args; a path is a separate word, or the end of one after =.'
    reading.reportAt('contract.invalid_value', [command, index], message, remedy)
  }
  const used = new Set(command.flatMap(splitWord).flatMap((part) => ('arg' in part ? [part.arg] : [])))
  for (const arg of Object.keys(args)) {
    if (used.has(arg)) continue
    const message = `The argument '${arg.slice(0, 80)}' is not used in the command.`
    const remedy = `Write {${arg.slice(0, 80)}} where it belongs, or remove it.`
    reading.reportAt('contract.invalid_value', [args, arg], message, remedy)
  }
}
