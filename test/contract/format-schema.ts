import { readFileSync } from 'node:fs'
import { compileSchema } from '../../src/contract/schemas.js'
import type { JsonObject } from '../../src/core/json.js'

export const FORMAT_SCHEMA = JSON.parse(
  readFileSync(new URL('../../schemas/agent_workflow.schema.json', import.meta.url), 'utf8'),
) as JsonObject

const validate = compileSchema(FORMAT_SCHEMA)

/** What the published JSON Schema of the format says about a parsed contract. */
export function formatErrors(contract: unknown): string[] {
  return validate(contract).map((error) => `${error.pointer} ${error.message}`)
}
