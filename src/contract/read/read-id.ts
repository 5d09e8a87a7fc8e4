import { filled, ID_PATTERN, type Kind, text } from '../schema/kinds.js'
import type { Fields } from './fields.js'

/** The field `id` of a phase or gate: required in a list, the same as the key in a map. */
export const id: Kind<string> = {
  ...text,
  read: (node, scope) => (scope.owner === null ? filled : text).read(node, scope),
  json: { type: 'string', pattern: ID_PATTERN },
  words: 'id',
}

/** The id that counts: the field `id`, or the key that holds the entry in a map. */
export function settleId(fields: Fields, given: string | undefined, key: string | null, example: string): string {
  if (key === null && given === undefined) fields.missing('id', example)
  const settled = key ?? given ?? ''
  if ((key !== null || settled !== '') && !new RegExp(ID_PATTERN).test(settled))
    fields.reportBad('id', 'contract.invalid_id', `The id '${settled.slice(0, 80)}' is not accepted.`)
  if (key !== null && given !== undefined && given !== key) {
    const message = `The id differs from its key '${key}'.`
    fields.reportBad('id', 'contract.invalid_value', message, 'Remove the field id, or make them equal.')
  }
  return settled
}
