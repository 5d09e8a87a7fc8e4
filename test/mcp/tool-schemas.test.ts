import { expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/json.js'
import { normalizeUpstreamSchema } from '../../src/mcp/tool-schemas.js'

it('[REQ-MCP-14] parameters of upstream tools are not sent in headers, which nobody would compare with the body', () => {
  const region = { type: 'string', description: 'where' }
  const place = (property: JsonObject) => ({
    type: 'object',
    properties: { region: property, nested: { type: 'object', properties: { city: property } } },
    anyOf: [{ properties: { region: property } }],
  })
  expect(normalizeUpstreamSchema(place({ ...region, 'x-mcp-header': 'Region' }))).toEqual(place(region))
})

it('[REQ-MCP-14] a parameter of that name, a default and an example stay as they are', () => {
  const schema = {
    type: 'object',
    properties: { 'x-mcp-header': { type: 'string' }, other: { type: 'object', default: { 'x-mcp-header': 'a' } } },
    required: ['x-mcp-header'],
    examples: [{ 'x-mcp-header': 'b' }],
  }
  expect(normalizeUpstreamSchema(schema)).toEqual(schema)
  expect(normalizeUpstreamSchema(undefined)).toEqual({ type: 'object' })
})
