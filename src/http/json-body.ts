const DEPTH_MAX = 64
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

export class BadBody extends Error {
  override readonly name = 'BadBody'
}

/** Parses a JSON body; refuses deep nesting and keys that reach into prototypes. */
export function parseBody(text: string): unknown {
  if (text.trim() === '') return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new BadBody(
      `The body is not valid JSON (${error instanceof Error ? error.message.slice(0, 200) : 'unreadable'}).`,
    )
  }
  refuseUnsafe(value)
  // Half a surrogate pair can be neither stored nor shown. Text from a socket is well-formed; an escape may not be.
  if (text.includes('\\u')) refuseHalfCharacters(value)
  return value
}

// Walked without recursion: a deep body must not be able to overflow the stack.
function refuseUnsafe(root: unknown): void {
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value: root, depth: 1 }]
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const { value, depth } = one
    if (typeof value === 'number' && !Number.isFinite(value)) throw new BadBody('A number in the body is too large.')
    if (value === null || typeof value !== 'object') continue
    if (depth > DEPTH_MAX) throw new BadBody(`The body is nested deeper than ${DEPTH_MAX} levels.`)
    if (Array.isArray(value)) {
      for (const item of value) if (isWorthALook(item)) open.push({ value: item, depth: depth + 1 })
      continue
    }
    for (const key of Object.keys(value)) {
      if (FORBIDDEN_KEYS.has(key)) throw new BadBody(`The key ${JSON.stringify(key)} is not allowed in a body.`)
      const item: unknown = (value as Record<string, unknown>)[key]
      if (isWorthALook(item)) open.push({ value: item, depth: depth + 1 })
    }
  }
}

function isWorthALook(item: unknown): boolean {
  return (item !== null && typeof item === 'object') || (typeof item === 'number' && !Number.isFinite(item))
}

function refuseHalfCharacters(value: unknown): void {
  JSON.stringify(value, (key, one: unknown) => {
    if (!key.isWellFormed() || (typeof one === 'string' && !one.isWellFormed()))
      throw new BadBody('The body contains half of a surrogate pair.')
    return one
  })
}
