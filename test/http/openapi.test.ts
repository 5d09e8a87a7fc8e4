import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Code } from '../../src/core/codes.js'
import type { Json, JsonObject } from '../../src/core/json.js'
import { openApi } from '../../src/http/openapi.js'
import { getStatus } from '../../src/http/problem.js'
import { listRefusals } from '../../src/http/refusals.js'
import type { RouteDescription } from '../../src/http/route.js'
import { DESCRIBED } from '../../src/http/routes/all.js'
import { sectionsOf } from '../docs/blocks.js'
import { recordExamples } from './record-examples.js'

interface Content {
  readonly schema: JsonObject
  readonly example?: Json
}
interface Response {
  readonly $ref?: string
  readonly content: Readonly<Record<string, Content & { readonly examples?: Readonly<Record<string, unknown>> }>>
}
interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly requestBody?: { readonly content: { readonly 'application/json': Content } }
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: JsonObject }[]
  readonly responses: Readonly<Record<string, Response>>
}

interface Document {
  readonly components: { readonly responses: Readonly<Record<string, Response>> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly tags: readonly { readonly name: string; readonly description: string }[]
}

let document: Document
let operations: readonly Operation[]
const ajv = new Ajv2020({ strict: false, validateSchema: false })
addFormats.default(ajv)

beforeAll(async () => {
  if (process.env.PHASELOCK_RECORD_EXAMPLES !== undefined) await recordExamples()
  document = openApi(DESCRIBED) as unknown as Document
  operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  ajv.addSchema(document, 'api')
}, 300_000)

function findMisfit(schema: JsonObject, value: Json): string | null {
  const references = JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"api#/components')) as JsonObject
  const validate = ajv.compile(references)
  return validate(value) ? null : ajv.errorsText(validate.errors)
}

describe('the OpenAPI document', () => {
  it('[REQ-SCHEMA-4] every call has one tag, and every tag a description and a call', () => {
    const used = new Set(operations.flatMap(({ tags }) => tags))
    expect(operations.filter(({ tags }) => tags.length !== 1)).toEqual([])
    expect([...used].sort()).toEqual(document.tags.map(({ name }) => name).sort())
    expect(document.tags.filter(({ description }) => description === '')).toEqual([])
  })

  it('[REQ-SCHEMA-4] every body and every answer has an example that fits its schema', () => {
    for (const { operationId, requestBody, responses } of operations) {
      const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
      const contents = [...Object.values(requestBody?.content ?? {}), ...Object.values(success?.content ?? {})]
      for (const { schema, example } of contents) {
        expect({ operationId, example }).not.toEqual({ operationId, example: undefined })
        expect({ operationId, misfit: findMisfit(schema, example ?? null) }).toEqual({ operationId, misfit: null })
      }
    }
  })

  it('[REQ-SCHEMA-4] the refusals of a call are listed under their status, with an example of each code', () => {
    for (const { operationId, responses } of operations) {
      const route = DESCRIBED.find(({ id }) => id === operationId)
      const codes = route === undefined ? [] : listRefusals(route)
      const listed = Object.entries(responses).flatMap(([status, { $ref = '', content }]) => {
        const shared = document.components.responses[$ref.split('/').at(-1) ?? '']
        const examples = (shared?.content ?? content)['application/problem+json']?.examples ?? {}
        return Object.keys(examples).map((code) => `${status} ${code}`)
      })
      expect(listed.sort()).toEqual(codes.map((code) => `${getStatus(code)} ${code}`).sort())
    }
  })

  it('[REQ-SCHEMA-4] what docs/api.md says about errors is listed', () => {
    for (const [heading, text] of sectionsOf('docs/api.md', 3)) {
      const route = DESCRIBED.find((one) => headingOf(one) === heading)
      const named = [...(/^- Errors.*$/m.exec(text)?.[0] ?? '').matchAll(/`([a-z_]+(?:\.[a-z_]+)?)`/g)]
      const codes = named.map(([, code = '']) => code as Code).filter((code) => !/^[A-Z]/.test(code))
      const unlisted = route === undefined ? [] : codes.filter((code) => !listRefusals(route).includes(code))
      expect({ heading, unlisted }).toEqual({ heading, unlisted: [] })
    }
  })

  it('[REQ-SCHEMA-4] every text, number and list of a query has a maximum, and keys and cursors a pattern', () => {
    for (const { operationId, parameters = [] } of operations)
      for (const { name, schema } of parameters) {
        const bound = schema.enum ?? schema.format ?? schema.pattern ?? schema.maxLength ?? schema.maximum
        expect({ operationId, name, isBounded: bound !== undefined }).toEqual({ operationId, name, isBounded: true })
        if (name === 'Idempotency-Key') expect(schema.pattern).toBeDefined()
      }
  })
})

function headingOf({ method, path }: RouteDescription): string {
  return `${method} ${path.replace(/:(\w+)/g, '{$1}')}`
}
