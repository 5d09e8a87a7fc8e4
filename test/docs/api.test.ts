import { afterAll, beforeAll, expect, test } from 'vitest'
import { CODES } from '../../src/core/codes.js'
import { sectionsOf } from './blocks.js'
import { type DocsServer, startServer } from './server.js'

interface Operation {
  readonly description: string
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}
interface Schema {
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
}

const FILE = 'docs/api.md'
// Served beside the table of routes: told apart in the document, and asked for here.
const OUTSIDE = ['GET /events', 'GET /metrics/summary']
const sections = sectionsOf(FILE, 3)
let server: DocsServer
let operations: ReadonlyMap<string, Operation>

beforeAll(async () => {
  server = await startServer()
  const answer = await fetch(`http://localhost:${server.port}/api/v1/openapi.json`)
  const document = (await answer.json()) as { paths: Record<string, Record<string, Operation>> }
  operations = new Map(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
    ),
  )
})
afterAll(async () => {
  await server?.stop()
})

test('every endpoint of the OpenAPI document has a section, and every section an endpoint', () => {
  const documented = [...sections.keys()].filter((heading) => !OUTSIDE.includes(heading))
  expect(documented.sort()).toEqual([...operations.keys()].filter((one) => !OUTSIDE.includes(one)).sort())
  expect([...sections.keys()]).toEqual(expect.arrayContaining(OUTSIDE))
})

test('every request field is documented, whether it is required, and no other field is', () => {
  for (const [heading, operation] of operations) {
    const rows = [...(sections.get(heading) ?? '').matchAll(/^\| `([a-z_]+)` \| (required)? ?\|/gm)]
    const fields = fieldsOf(operation)
    expect({ heading, fields: rows.map(([, name]) => name).sort() }).toEqual({ heading, fields: fields.all.sort() })
    const required = rows.filter(([, , mark]) => mark === 'required').map(([, name]) => name)
    expect({ heading, required: required.sort() }).toEqual({ heading, required: fields.required.sort() })
  }
})

test('every section says whom the endpoint is for', () => {
  for (const [heading, operation] of operations)
    expect({ heading, who: lineOf(heading, 'For') }).toEqual({ heading, who: whoIn(operation.description) })
})

test('every error that is named is a code', () => {
  const named = [...sections.keys()].flatMap((heading) =>
    [...(lineOf(heading, 'Errors') ?? '').matchAll(/`([^`]+)`/g)].map(([, code]) => code),
  )
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter((code) => !Object.hasOwn(CODES, code ?? ''))).toEqual([])
})

test('every path that needs no token answers without one', async () => {
  const table = sectionsOf(FILE).get('Without a token') ?? ''
  const paths = [...table.matchAll(/^\| `GET ([^`]+)`/gm)].map(([, path]) => path)
  expect(paths.length).toBeGreaterThan(6)
  for (const path of paths) {
    const query = path === '/health/proof' ? `?nonce=${'0'.repeat(64)}` : ''
    const answer = await fetch(`http://localhost:${server.port}${path}${query}`)
    expect({ path, status: answer.status }).toEqual({ path, status: 200 })
  }
})

test('what is served beside the table of routes answers', async () => {
  for (const one of OUTSIDE) {
    const aborting = new AbortController()
    const answer = await fetch(`http://localhost:${server.port}/api/v1${one.slice('GET '.length)}`, {
      headers: { authorization: `Bearer ${server.operatorToken}` },
      signal: aborting.signal,
    })
    expect({ one, status: answer.status }).toEqual({ one, status: 200 })
    aborting.abort()
  }
})

function fieldsOf(operation: Operation): { all: string[]; required: string[] } {
  const schema = operation.requestBody?.content['application/json']?.schema
  const query = (operation.parameters ?? []).filter((one) => one.in === 'query').map((one) => one.name)
  return { all: [...Object.keys(schema?.properties ?? {}), ...query], required: [...(schema?.required ?? [])] }
}

/** Without which token it is. */
function whoIn(description: string): string {
  return description
    .replace(/^For /, '')
    .replace(/\.$/, '')
    .replaceAll(/ \([^)]*\)/g, '')
}

function lineOf(heading: string, name: string): string | undefined {
  return new RegExp(`^- ${name}: (.+)$`, 'm').exec(sections.get(heading) ?? '')?.[1]
}
