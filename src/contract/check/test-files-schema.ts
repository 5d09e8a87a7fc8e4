import type { Json, JsonObject } from '../../core/json.js'

/** Whether every schema of `test_files` accepts only texts as entries, and so no `covers`. */
export function isPathsOnly(
  schemas: ReadonlyMap<string, JsonObject | boolean>,
  names: readonly (string | null)[],
): boolean {
  return (
    names.length > 0 &&
    names.every((name) => {
      const files = getMember(getMember(name === null ? undefined : schemas.get(name), 'properties'), 'test_files')
      return getMember(getMember(files, 'items'), 'type') === 'string'
    })
  )
}

function getMember(value: Json | undefined, key: string): Json | undefined {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as JsonObject)[key]
    : undefined
}
