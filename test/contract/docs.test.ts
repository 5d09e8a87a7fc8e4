import { readFileSync } from 'node:fs'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { CONTRACT_CODES } from '../../src/contract/diagnostic.js'
import type {
  AgentDocument,
  ContractDocument,
  EvidenceDocument,
  GateDocument,
  PhaseDocument,
  ToolDocument,
} from '../../src/contract/document.js'
import type { AGENT } from '../../src/contract/read/read-agents.js'
import type { CONTRACT } from '../../src/contract/read/read-contract.js'
import type { GATE } from '../../src/contract/read/read-gates.js'
import type { PHASE } from '../../src/contract/read/read-phases.js'
import type { TOOL } from '../../src/contract/read/read-services.js'
import { RULE_ALIAS_NAMES } from '../../src/contract/read/validation-rules.js'
import type { TypeOf } from '../../src/contract/schema/kinds.js'
import { CHECK_NAMES, CHECKS_NOT_ENFORCED } from '../../src/core/contract/contract.js'
import { FORMAT_SCHEMA } from './format-schema.js'
import { mustLoad } from './load.js'
import { formatSchema, OVER_BASE, prettyJson, withTables } from './published.js'

const DOCS = readFileSync(new URL('../../docs/contract-reference.md', import.meta.url), 'utf8')

interface SchemaObject {
  readonly properties: Readonly<Record<string, { readonly description?: string }>>
}

const definitions = new Map<string, SchemaObject>([
  ...Object.entries(FORMAT_SCHEMA.$defs as unknown as Record<string, SchemaObject>).filter(
    ([name]) => name !== 'rule' && !name.endsWith(OVER_BASE),
  ),
])

/** The first column of the table below each `<!-- fields: name -->`. */
const documented = new Map(
  [...DOCS.matchAll(/<!-- fields: (\w+) -->\n((?:\|.*\n)+)/g)].map(([, name, table]) => [
    name ?? '',
    [...(table ?? '').matchAll(/^\| `([^`]+)` \|/gm)].map(([, field]) => field ?? ''),
  ]),
)

const GUIDE = readFileSync(new URL('../../docs/contract.md', import.meta.url), 'utf8')
const contracts = [...`${DOCS}\n${GUIDE}`.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text ?? '')

describe('one source', () => {
  // `npx vitest run test/contract/docs.test.ts -u` writes both files.
  it('[REQ-CONTRACT-2] the published JSON Schema is the one that the fields of the loader give', async () => {
    await expect(`${prettyJson(formatSchema())}\n`).toMatchFileSnapshot('../../schemas/agent_workflow.schema.json')
  })

  it('[REQ-CONTRACT-25] the tables of the reference are those that the fields of the loader give', async () => {
    await expect(withTables(DOCS)).toMatchFileSnapshot('../../docs/contract-reference.md')
  })

  it('[REQ-CONTRACT-25] the types of the document have the fields of the loader, and those of their kinds', () => {
    expectTypeOf<keyof GateDocument>().toEqualTypeOf<keyof typeof GATE.fields>()
    expectTypeOf<keyof PhaseDocument>().toEqualTypeOf<keyof typeof PHASE.fields>()
    expectTypeOf<keyof AgentDocument>().toEqualTypeOf<keyof typeof AGENT.fields>()
    expectTypeOf<keyof ToolDocument>().toEqualTypeOf<keyof typeof TOOL.fields>()
    expectTypeOf<Exclude<keyof ContractDocument, keyof typeof CONTRACT.fields>>().toEqualTypeOf<never>()
    expectTypeOf<GateDocument['type']>().toEqualTypeOf<TypeOf<typeof GATE.fields.type.kind>>()
    expectTypeOf<EvidenceDocument['min']>().toEqualTypeOf<number | undefined>()
  })
})

describe('the reference', () => {
  it('[REQ-CONTRACT-25] every kind of object in the JSON Schema has a table, and every table a kind', () => {
    expect([...documented.keys()].sort()).toEqual([...definitions.keys()].sort())
  })

  it.each([...definitions])(
    '[REQ-CONTRACT-25] the table of %s names the fields of the JSON Schema and no other',
    (name, definition) => {
      expect(documented.get(name)).toEqual(Object.keys(definition.properties))
    },
  )

  it('[REQ-CONTRACT-2] every property in the JSON Schema has a description', () => {
    const bare: string[] = []
    visit(FORMAT_SCHEMA, '', bare)
    expect(bare).toEqual([])
  })

  it('[REQ-CONTRACT-25] there are contracts in the reference', () => {
    expect(contracts.length).toBeGreaterThanOrEqual(4)
  })

  it.each(contracts)('[REQ-CONTRACT-25] a contract in the reference loads without a warning\n%s', async (text) => {
    expect((await mustLoad(text)).warnings).toEqual([])
  })

  it('[REQ-CONTRACT-25] every code, check and validation rule is in the reference', () => {
    const names = [...Object.keys(CONTRACT_CODES), ...CHECK_NAMES, ...RULE_ALIAS_NAMES, ...CHECKS_NOT_ENFORCED]
    expect(names.filter((name) => !DOCS.includes(`\`${name}\``))).toEqual([])
  })

  it('[REQ-CONTRACT-25] the table of codes says what the loader says', () => {
    for (const [code, { severity, title, remedy }] of Object.entries(CONTRACT_CODES)) {
      expect(DOCS).toContain(`| \`${code}\` | ${severity} | ${title} | ${remedy} |`)
    }
  })

  it('[REQ-CONTRACT-25] every link inside the reference leads to a heading', () => {
    const headings = [...DOCS.matchAll(/^#+ (.*)$/gm)].map(([, text]) => anchor(text ?? ''))
    const links = [...DOCS.matchAll(/\]\(#([^)]+)\)/g)].map(([, link]) => link ?? '')
    expect(links.filter((link) => !headings.includes(link))).toEqual([])
  })
})

function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
}

function visit(schema: unknown, path: string, bare: string[]): void {
  if (typeof schema !== 'object' || schema === null) return
  for (const [key, value] of Object.entries(schema)) {
    const isConditional = ['if', 'then', 'else', 'not', 'allOf', 'anyOf'].includes(key)
    if (isConditional) continue
    if (key === 'properties') {
      for (const [name, member] of Object.entries(value as object)) {
        if (typeof (member as { description?: unknown }).description !== 'string') bare.push(`${path}/${name}`)
      }
    }
    visit(value, `${path}/${key}`, bare)
  }
}
