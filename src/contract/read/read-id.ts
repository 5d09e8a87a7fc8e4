import type { Fields } from './fields.js'

const ID = /^[A-Za-z0-9_.-]{1,64}$/

/** The id of a phase or gate: its field `id`, or the key that holds it in a map. */
export function readId(fields: Fields, name: string | null, example: string): string {
  if (name === null) {
    const id = fields.needText('id', example)
    if (id !== '') checkId(fields, id)
    return id
  }
  checkId(fields, name)
  if (fields.has('id') && fields.getText('id') !== name) {
    fields.reportBad(
      'id',
      'contract.invalid_value',
      `The id differs from its key '${name}'.`,
      'Remove the field id, or make them equal.',
    )
  }
  return name
}

function checkId(fields: Fields, id: string): void {
  if (!ID.test(id)) fields.reportBad('id', 'contract.invalid_id', `The id '${id.slice(0, 80)}' is not accepted.`)
}
