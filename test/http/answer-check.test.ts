import { readFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { renderApiTypes } from '../../scripts/api-types.mjs'
import { Components } from '../../src/http/answers/components.js'
import { makeObject, nameObject, TEXT } from '../../src/http/answers/schema-parts.js'
import { openApi } from '../../src/http/openapi.js'
import { DESCRIBED } from '../../src/http/routes/all.js'
import { AnswerCheck } from './answer-check.js'

const document = openApi(DESCRIBED)
const PAGE = { agents: [], next: 1 }

describe('the OpenAPI document', () => {
  it('[REQ-SCHEMA-1] is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(document) as Record<string, unknown>)
    expect(result.errors ?? []).toEqual([])
    expect(result.valid).toBe(true)
  })

  it('[REQ-SCHEMA-1] says of every answer which fields it has', () => {
    const open = DESCRIBED.filter(({ response }) => JSON.stringify(response) === '{"type":"object"}')
    expect(open.map(({ id }) => id)).toEqual([])
  })

  it('refuses two schemas under one name', () => {
    const components = new Components()
    components.lift(nameObject('One', { a: TEXT }))
    expect(components.lift(nameObject('One', { a: TEXT }))).toEqual({ $ref: '#/components/schemas/One' })
    expect(() => components.lift(makeObject({ part: nameObject('One', { b: TEXT }) }))).toThrow('named One')
  })

  it('[REQ-SCHEMA-3] gives the types that the dashboard uses: npm run generate:api writes them', () => {
    const file = new URL('../../dashboard/src/api/schema.d.ts', import.meta.url)
    expect(readFileSync(file, 'utf8') === renderApiTypes(document), 'run npm run build && npm run generate:api').toBe(
      true,
    )
  })
})

describe('an answer that does not fit its schema', () => {
  const check = new AnswerCheck(document as never)
  const stats = { events: 1, streams: 1, by_type: {}, by_code: {}, first_at: null, last_at: null }

  it.each([
    ['a field that nobody described', { ...stats, surprise: 1 }, 'surprise'],
    ['a missing field', { ...stats, streams: undefined }, 'streams'],
    ['a field of another type', { ...stats, events: 'many' }, '/events must be integer'],
    ['a time that is none', { ...stats, first_at: 'yesterday' }, '/first_at must match format'],
  ])('[REQ-SCHEMA-2] is found: %s', (_, body, words) => {
    const sent = JSON.parse(JSON.stringify(body)) as unknown
    expect(check.findMisfit('GET', '/audit/stats', { status: 200, body: sent })).toContain(words)
  })

  it('is found in a part of it, and in a refusal', () => {
    expect(check.findMisfit('GET', '/agents', { status: 200, body: PAGE })).toContain('next')
    expect(check.findMisfit('GET', '/agents', { status: 400, body: { code: 'not_found' } })).toContain('listAgents 400')
    expect(check.findMisfit('GET', '/agents', { status: 404, body: {} })).toContain('404 is not documented')
    expect(check.findMisfit('GET', '/agents', { status: 204, body: {} })).toContain('204 is not documented')
  })

  it('is not one that fits', () => {
    expect(check.findMisfit('GET', '/audit/stats', { status: 200, body: stats })).toBeNull()
    expect(check.findMisfit('GET', '/api/v1/agents?limit=1', { status: 200, body: { agents: [] } })).toBeNull()
    expect(check.seen).toEqual(new Set(['auditStats', 'listAgents']))
  })
})
