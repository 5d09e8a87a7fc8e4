import type { jsonSchemaValidator } from '@modelcontextprotocol/client'
import { findSchemaProblems } from '../../contract/check/schema-problems.js'
import { compileSchema } from '../../contract/schemas.js'
import type { Json, JsonObject } from '../../core/json.js'

const ERRORS_MAX = 3

/** Validates the answers of tools against their output schemas, like artifacts: in linear time, fetching nothing. */
export const linearValidator: jsonSchemaValidator = {
  getValidator: <T>(schema: unknown) => {
    const [problem] = findSchemaProblems(schema as Json)
    if (problem !== undefined) throw new Error(problem.message)
    const validate = compileSchema(schema as JsonObject | boolean)
    return (input: unknown) => {
      const errors = validate(input)
      if (errors.length === 0) return { valid: true, data: input as T, errorMessage: undefined }
      const errorMessage = errors
        .slice(0, ERRORS_MAX)
        .map(({ pointer, message }) => `${pointer} ${message}`.trim())
        .join('; ')
      return { valid: false, data: undefined, errorMessage }
    }
  },
}
