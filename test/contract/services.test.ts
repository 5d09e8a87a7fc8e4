import { describe, expect, it } from 'vitest'
import { loadContractText } from '../../src/contract/load/load-contract.js'
import { HEAD, mustLoad } from './load.js'

const TWO = `${HEAD}phases:\n  - {id: A}\n  - {id: B}\n`
const tool = (text: string): string => `${TWO}tools: {lint: ${text}}\n`
const ref = (name: string): string => `\${env:${name}}`
const server = (text: string): string => `${TWO}mcp_servers: {gh: ${text}}\n`

async function refusals(text: string): Promise<readonly string[]> {
  const result = await loadContractText(text, { file: 'agent_workflow.yaml', baseDir: null })
  return result.ok ? [] : result.diagnostics.map((one) => `${one.code} ${one.message}`)
}

describe('own tools in a contract', () => {
  it.each([
    ['an empty command', tool('{command: []}'), 'The command is empty'],
    ['an argument as the program', tool('{command: ["{p}"], args: {p: {}}}'), 'The program itself cannot be'],
    ['a path in a path', tool('{command: [x, "src/{p}"], args: {p: {path: read}}}'), 'is joined to other text'],
    ['an argument that is used nowhere', tool('{command: [x], args: {p: {}}}'), "'p' is not used"],
    ['a name that no placeholder can have', tool('{command: [x, "{a-b}"], args: {a-b: {}}}'), "'a-b' is not accepted"],
    ['a path that is a number', tool('{command: [x, "{p}"], args: {p: {type: integer, path: read}}}'), 'not integer'],
    ['a bound of a text', tool('{command: [x, "{p}"], args: {p: {min: 1}}}'), "'min' is for integer and number"],
    [
      'bounds without a value between',
      tool('{command: [x, "{p}"], args: {p: {type: number, min: 2, max: 1}}}'),
      "'max' is 1",
    ],
    ['a bound that is a text', tool('{command: [x, "{p}"], args: {p: {type: number, min: "2"}}}'), 'Expected a number'],
    ['an empty enum', tool('{command: [x, "{p}"], args: {p: {enum: []}}}'), 'empty enum'],
    ['the name of a harness tool', `${TWO}tools: {web_search: {command: [x]}}\n`, "'web_search' is a built-in tool"],
  ])('[REQ-OWN-5] %s does not load', async (_name, text, expected) => {
    expect((await refusals(text)).join('\n')).toContain(expected)
  })

  it('[REQ-OWN-6] an own tool is compiled with everything its entry says', async () => {
    const text = tool(
      '{command: [npx, eslint, "--max={n}", "{path}"], description: Lint., network: true, timeout_seconds: 9, args: {path: {path: read}, n: {type: integer, optional: true, min: 0, max: 3, description: Most., enum: ["1"]}}}',
    )
    const { contract } = await mustLoad(text)
    expect(contract.tools.get('lint')).toEqual({
      name: 'lint',
      description: 'Lint.',
      command: ['npx', 'eslint', '--max={n}', '{path}'],
      network: true,
      timeoutSeconds: 9,
      args: new Map([
        ['path', { type: 'string', path: 'read', description: '', optional: false, enum: null, min: null, max: null }],
        ['n', { type: 'integer', path: null, description: 'Most.', optional: true, enum: ['1'], min: 0, max: 3 }],
      ]),
    })
  })
})

describe('upstream servers in a contract', () => {
  it.each([
    ['an address that is none', server('{url: here}'), 'The url is not an address'],
    ['another protocol', server('{url: "ftp://example.org/"}'), 'is not an http(s) address'],
    ['a password in the address', server('{url: "https://a:b@example.org/"}'), 'carries a user name'],
    ['an environment elsewhere', server('{url: "https://example.org/", env: {A: b}}'), "'env' has no effect"],
    ['writing from elsewhere', server('{url: "https://example.org/", writable: [a]}'), "'writable' has no effect"],
    ['a glob with a range', server('{command: x, writable: ["a.b/{1..3}/x"]}'), 'list the alternatives: {a,b}'],
    ['a glob that leaves the tree', server('{command: x, writable: ["../a"]}'), 'it leaves the work tree'],
    [
      'a variable that cannot be named',
      server('{command: x, env: {"A=B": c}}'),
      "'A=B' is not a name of an environment variable",
    ],
    ['a broken reference', server(`{command: x, env: {A: "${ref('B C')}"}}`), 'has a broken reference'],
  ])('[REQ-UPSTREAM-1] %s does not load', async (_name, text, expected) => {
    expect((await refusals(text)).join('\n')).toContain(expected)
  })

  it('[REQ-UPSTREAM-1] a server is compiled with everything its entry says, and nothing by default', async () => {
    const full = await mustLoad(
      server(
        `{command: npx, args: [-y, s], env: {T: "${ref('T')}"}, writable: ["docs/**"], network: true, timeout_seconds: 7}`,
      ),
    )
    expect(full.contract.mcpServers.get('gh')).toEqual({
      kind: 'stdio',
      name: 'gh',
      command: 'npx',
      args: ['-y', 's'],
      env: new Map([['T', ref('T')]]),
      writable: ['docs/**'],
      network: true,
      timeoutSeconds: 7,
    })
    const bare = await mustLoad(server('{command: npx}'))
    expect(bare.contract.mcpServers.get('gh')).toMatchObject({ args: [], env: new Map(), writable: [], network: false })
    const remote = await mustLoad(server('{url: "https://example.org/mcp"}'))
    expect(remote.contract.mcpServers.get('gh')).toEqual({
      kind: 'http',
      name: 'gh',
      url: 'https://example.org/mcp',
      timeoutSeconds: null,
    })
  })

  it('[REQ-WEB-1] the hosts of web_fetch are those the contract lists', async () => {
    const { contract } = await mustLoad(`${TWO}web: {allowed_hosts: [docs.python.org, "*.example.org"]}\n`)
    expect(contract.webHosts).toEqual(['docs.python.org', '*.example.org'])
    expect((await mustLoad(TWO)).contract.webHosts).toEqual([])
  })
})
