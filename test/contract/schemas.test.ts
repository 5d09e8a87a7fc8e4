import { readdirSync, readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { findSchemaProblems } from '../../src/contract/check/schema-problems.js'
import { compileSchema } from '../../src/contract/schemas.js'
import type { JsonObject } from '../../src/core/json.js'
import { cpuMs } from '../cpu-time.js'
import { HEAD, mustLoad } from './load.js'

const builtIn = (name: string): JsonObject =>
  JSON.parse(readFileSync(new URL(`../../contracts/schemas/${name}.json`, import.meta.url), 'utf8')) as JsonObject

describe('JSON Schemas', () => {
  it('[REQ-CONTRACT-13] all errors are reported, each with its JSON pointer', () => {
    const validate = compileSchema({
      type: 'object',
      required: ['a', 'b'],
      properties: { 'x/y': { type: 'array', items: { type: 'integer' } } },
    })
    expect(validate({ 'x/y': [1, 'two', 3, null] })).toEqual([
      { pointer: '', message: "must have required property 'a'" },
      { pointer: '', message: "must have required property 'b'" },
      { pointer: '/x~1y/1', message: 'must be integer' },
      { pointer: '/x~1y/3', message: 'must be integer' },
    ])
  })

  it('[REQ-CONTRACT-13] a pattern that backtracks elsewhere decides a long text at once', () => {
    const validate = compileSchema({ type: 'string', pattern: '^(a+)+$' })
    const start = cpuMs()
    expect(validate(`${'a'.repeat(50_000)}b`)).toHaveLength(1)
    expect(validate('a'.repeat(50_000))).toEqual([])
    expect(cpuMs() - start).toBeLessThan(2000)
  })

  it('[REQ-CONTRACT-13] two patterns in one schema stay two patterns', () => {
    const validate = compileSchema({
      properties: { a: { pattern: '^a+$' }, b: { pattern: '^b+$' } },
      patternProperties: { '^n_': { type: 'number' }, '^s_': { type: 'string' } },
    })
    expect(validate({ a: 'aa', b: 'bb', n_x: 1, s_x: '' })).toEqual([])
    expect(validate({ a: 'bb', b: 'aa', n_x: '', s_x: 1 }).map((error) => error.pointer)).toEqual([
      '/a',
      '/b',
      '/n_x',
      '/s_x',
    ])
  })

  it('[REQ-CONTRACT-13] every built-in schema is valid by the meta-schema of its dialect', () => {
    const folder = new URL('../../contracts/schemas/', import.meta.url)
    const names = readdirSync(folder)
    expect(names).toContain('plan.json')
    for (const name of names) {
      const schema = builtIn(name.slice(0, -'.json'.length))
      const judge = schema.$schema === 'http://json-schema.org/draft-07/schema#' ? new Ajv() : new Ajv2020()
      expect(judge.validateSchema(schema), name).toBe(true)
      expect(findSchemaProblems(schema), name).toEqual([])
    }
  })

  it('[REQ-CONTRACT-13] draft-07 is chosen by $schema, 2020-12 otherwise', () => {
    const tuple = { type: 'array', items: [{ type: 'string' }], additionalItems: false }
    const draft07 = compileSchema({ $schema: 'http://json-schema.org/draft-07/schema#', ...tuple })
    expect(draft07(['a'])).toEqual([])
    expect(draft07(['a', 1])).toHaveLength(1)
    expect(compileSchema({ prefixItems: [{ type: 'string' }], items: false })(['a', 1])).toHaveLength(1)
    expect(findSchemaProblems(tuple)).not.toEqual([])
  })

  it('[REQ-CONTRACT-13] formats are checked', () => {
    expect(compileSchema({ type: 'string', format: 'date-time' })('yesterday')).toHaveLength(1)
  })

  it('[REQ-CONTRACT-13] schemas with the same $id do not see each other', () => {
    const first = compileSchema({ $id: 'urn:x:y', type: 'string' })
    const second = compileSchema({ $id: 'urn:x:y', type: 'number' })
    expect([first('a'), second(1)]).toEqual([[], []])
    expect(second('a')).toHaveLength(1)
  })

  it('[REQ-CONTRACT-13] a reference inside the schema is followed, one outside is refused', () => {
    const tree = {
      $defs: { node: { properties: { next: { $ref: '#/$defs/node' }, v: { type: 'number' } } } },
      $ref: '#/$defs/node',
    }
    expect(compileSchema(tree)({ next: { next: { v: 'x' } } })).toMatchObject([{ pointer: '/next/next/v' }])
    expect(
      findSchemaProblems({ properties: { a: { $ref: 'http://json-schema.org/draft-07/schema#' } } }),
    ).toMatchObject([{ code: 'contract.invalid_schema', path: ['properties', 'a', '$ref'] }])
    expect(findSchemaProblems({ properties: { $ref: { type: 'string' } }, const: { $ref: 'x.json' } })).toEqual([])
  })

  it('[REQ-CONTRACT-13] a value nested without end is refused, not thrown', () => {
    const validate = compileSchema({ $defs: { n: { properties: { n: { $ref: '#/$defs/n' } } } }, $ref: '#/$defs/n' })
    let deep: object = {}
    for (let i = 0; i < 100_000; i += 1) deep = { n: deep }
    expect(validate(deep)).toMatchObject([{ pointer: '' }])
  })

  it('[REQ-CONTRACT-7] a schema cannot reach a prototype', () => {
    const validate = compileSchema(
      JSON.parse('{"properties":{"__proto__":{"type":"string"}},"required":["constructor"]}') as JsonObject,
    )
    expect(validate({})).toHaveLength(1)
    expect(({} as Record<string, unknown>).type).toBeUndefined()
  })
})

describe('built-in schemas', () => {
  const valid: readonly (readonly [string, unknown, string])[] = [
    [
      'plan',
      {
        title: 'Add a health page',
        acceptance_criteria: [{ criterion: 'It answers', how_to_verify: 'curl' }],
        implementation_steps: ['x'],
        scope: { in_scope: ['a'], out_of_scope: ['b'] },
      },
      'title',
    ],
    ['scope', { in_scope: ['a'], out_of_scope: ['b'], constraints: ['c'] }, 'out_of_scope'],
    ['tests', { test_files: [{ path: 'tests/a.test.ts', covers: ['AC1'] }] }, 'test_files'],
    [
      'test_result',
      { command: 'npm test', exit_code: 1, passed: 0, failed: 2, skipped: 0, timestamp: '2026-01-02T03:04:05Z' },
      'failed',
    ],
    ['implementation', { files_changed: [{ path: 'src/a.ts', change_type: 'created' }], summary: 'Done' }, 'summary'],
    ['review', { reviews: { security: { status: 'completed' } }, blocking_issues: [] }, 'blocking_issues'],
    ['completion', { summary: 'Done', files_changed: ['src/a.ts'] }, 'summary'],
  ]

  it.each(valid)(
    '[REQ-CONTRACT-12] %s.json takes an honest artifact and misses a required field',
    (name, artifact, field) => {
      const validate = compileSchema(builtIn(name))
      expect(findSchemaProblems(builtIn(name))).toEqual([])
      expect(validate(artifact)).toEqual([])
      const { [field]: _gone, ...rest } = artifact as Record<string, unknown>
      expect(validate(rest).map((error) => error.message)).toContain(`must have required property '${field}'`)
    },
  )

  it('[REQ-CONTRACT-12] a title of nine characters is too short and one of ten is not', () => {
    const validate = compileSchema(builtIn('plan'))
    const errors = (title: string) => validate({ ...(valid[0]?.[1] as object), title }).map((error) => error.pointer)
    expect(errors('123456789')).toEqual(['/title'])
    expect(errors('1234567890')).toEqual([])
  })

  it('[REQ-CHECK-11] a schema that accepts only paths of test files causes a warning where criteria are checked', async () => {
    const warned = async (items: string) => {
      const artifacts = '[{type: plan_document}, {type: test_files, schema: tests.json}]'
      const gates = '[{id: g, type: validation, blockers: [{check: tests_exist_for_acceptance_criteria}]}]'
      const loaded = await mustLoad(
        `${HEAD}phases:\n  - {id: A, allowed_tools: [write_files], required_artifacts: ${artifacts}, gates: ${gates}}\n  - id: B\nschemas:\n  tests.json: {properties: {test_files: {items: ${items}}}}\n`,
      )
      return loaded.warnings.map((one) => `${one.code} ${one.path}`)
    }
    expect(await warned('{type: object}')).toEqual([])
    expect(await warned('{type: [string, object]}')).toEqual([])
    expect(await warned('{type: string}')).toEqual(['contract.effect_differs phases[0].gates[0].blockers[0]'])
  })
})
