import type { Chance } from './chance.js'
import type { Sent } from './client.js'
import { AUTHORIZATIONS, BODY_TEXTS, bodyText, JUNK_HEADERS, JUNK_TEXTS, JUNK_VALUES, PATH_JUNK, raw } from './junk.js'

type Schema = Readonly<Record<string, unknown>>
type Path = readonly (string | number)[]

export interface Operation {
  readonly id: string
  readonly method: string
  /** With `{name}` for its parameters. */
  readonly path: string
  readonly body: Schema | null
  readonly query: ReadonlyMap<string, Schema>
}

/** A request that is right, in its parts. */
export interface Base {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Readonly<Record<string, unknown>>
  /** With a cookie, the request carries no token. */
  readonly headers?: Readonly<Record<string, string>>
  /** Other right values by parameter, field or query name: other tasks, other phases, other tools. */
  readonly also?: Readonly<Record<string, readonly unknown[]>>
}

/** One thing to change in a right request. */
export interface Change {
  readonly name: string
  readonly apply: (base: Base) => Parts
}

/** A request in the parts that a change can reach. */
export interface Parts {
  readonly method?: string
  readonly params?: Readonly<Record<string, string>>
  readonly queryText?: string
  readonly body?: unknown
  readonly bodyBytes?: Buffer
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly suffix?: string
}

export function requestOf(operation: Operation, base: Base, parts: Parts, token: string | null): Sent {
  const params = { ...base.params, ...parts.params }
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '')
  const query = parts.queryText ?? new URLSearchParams(base.query).toString()
  const value = 'body' in parts ? parts.body : base.body
  const body = parts.bodyBytes ?? (value === undefined ? null : Buffer.from(bodyText(value)))
  const headers = Object.fromEntries(
    Object.entries(parts.headers ?? {}).map(([name, text]) => [
      name,
      name === 'authorization' && typeof text === 'string' ? text.replaceAll('*', token ?? '') : text,
    ]),
  )
  return {
    method: parts.method ?? operation.method,
    target: `/api/v1${path}${parts.suffix ?? ''}${query === '' ? '' : `?${query}`}`,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === null ? {} : { 'content-type': 'application/json', 'content-length': String(body.length) }),
      ...headers,
    },
    body,
  }
}

/** Every single change that the shape of the operation suggests, in a fixed order. `sample` shows which fields a body has. */
export function changesOf(operation: Operation, sample: Base): readonly Change[] {
  return [
    ...alsoChanges(sample),
    ...bodyChanges(operation, sample),
    ...queryChanges(operation),
    ...Object.keys(sample.params ?? {}).flatMap((name) =>
      PATH_JUNK.map(([what, text]) => change(`${name} is ${what}`, () => ({ params: { [name]: text } }))),
    ),
    ...JUNK_HEADERS.map(([what, headers]) => change(`header: ${what}`, () => ({ headers }))),
    ...AUTHORIZATIONS.map(([what, authorization]) =>
      change(`authorization: ${what}`, () => ({ headers: { authorization } })),
    ),
    ...['PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'GET', 'SEARCH', 'PURGE']
      .filter((method) => method !== operation.method)
      .map((method) => change(`method ${method}`, () => ({ method }))),
    ...['/', '//', '/.', '/..', '/x', '%00', '%2f', ';x', '.json', '/%2e%2e/pause', '#x'].map((suffix) =>
      change(`path ends in ${suffix}`, () => ({ suffix })),
    ),
  ]
}

/** A change made of chance, for when the shape suggests too few. */
export function randomChange(operation: Operation, sample: Base, chance: Chance): Change {
  const text = chance.text(40)
  const field = chance.pick([...Object.keys(sample.body ?? {}), ...operation.query.keys(), 'x'])
  const kind = chance.number(operation.body === null ? 3 : 5)
  const header = chance.pick(['x-junk', 'accept', 'idempotency-key', 'last-event-id', 'cookie', 'user-agent', 'via'])
  if (kind === 0) {
    const value = text.replace(/[^\u0020-\u007e]/g, '.')
    return change(`random header ${header}: ${value}`, () => ({ headers: { [header]: value } }))
  }
  if (kind === 1)
    return change(`random query ${field}=${text}`, (base) => ({
      queryText: new URLSearchParams({ ...base.query, [field]: text }).toString(),
    }))
  if (kind === 2) {
    const headers = { [header]: chance.text(10).replace(/[^\u0020-\u007e]/g, '') || 'x', accept: '*/*' }
    return change(`random headers ${JSON.stringify(headers)}`, () => ({ headers }))
  }
  if (kind === 3) return change(`random ${field}`, (base) => ({ body: { ...base.body, [field]: text } }))
  const cut = chance.number(100)
  return change(`body cut at ${cut} %`, (base) => {
    const whole = Buffer.from(bodyText(base.body))
    return { bodyBytes: whole.subarray(0, Math.floor((whole.length * cut) / 100)) }
  })
}

/** Nothing is changed: the control. */
export const UNCHANGED: Change = change('nothing', () => ({}))

function change(name: string, apply: (base: Base) => Parts): Change {
  return { name, apply }
}

function alsoChanges(sample: Base): readonly Change[] {
  return Object.entries(sample.also ?? {}).flatMap(([name, values]) =>
    values.map((value, index) =>
      change(`${name} is another right one (${index})`, (base) => {
        const now = base.also?.[name]?.[index] ?? value
        if (base.params?.[name] !== undefined) return { params: { [name]: String(now) } }
        if (base.body !== undefined) return { body: { ...base.body, [name]: now } }
        return { queryText: new URLSearchParams({ ...base.query, [name]: String(now) }).toString() }
      }),
    ),
  )
}

function bodyChanges(operation: Operation, sample: Base): readonly Change[] {
  const whole = BODY_TEXTS.map(([what, text]) => change(`body is ${what}`, () => ({ bodyBytes: Buffer.from(text) })))
  if (sample.body === undefined) return whole
  const at = (path: Path, what: string, value: unknown): Change =>
    change(`/${path.join('/')} is ${what}`, (base) => ({ body: withValue(base.body, path, value) }))
  const places = placesIn(sample.body)
  return [
    ...whole,
    ...places.flatMap((path) => [
      change(`/${path.join('/')} is missing`, (base) => ({ body: withValue(base.body, path, undefined) })),
      ...boundaries(schemaAt(operation.body, path)).map(([what, value]) => at(path, what, value)),
      ...JUNK_VALUES.map(([what, value]) => at(path, what, value)),
      ...JUNK_TEXTS.map(([what, value]) => at(path, what, value)),
    ]),
    ...['x', '', '__proto__', 'constructor', 'toString', 'TITLE', 'task_id ', 'phase-token', '😀'].map((key) =>
      change(`an unknown field ${JSON.stringify(key)}`, (base) => ({
        bodyBytes: Buffer.from(`${bodyText(base.body).slice(0, -1)},${JSON.stringify(key)}:1}`),
      })),
    ),
    change('a field twice', (base) => ({
      bodyBytes: Buffer.from(`{${JSON.stringify(Object.keys(base.body ?? {})[0])}:0,${bodyText(base.body).slice(1)}`),
    })),
    change('a phase token that is none', (base) => ({ body: { ...base.body, phase_token: 'a.b.c' } })),
    change('a phase token of another kind', (base) => ({ body: { ...base.body, phase_token: { a: 1 } } })),
  ]
}

function queryChanges(operation: Operation): readonly Change[] {
  const set = (name: string, what: string, text: string): Change =>
    change(`query ${name} is ${what}`, (base) => ({
      queryText: new URLSearchParams({ ...base.query, [name]: text }).toString(),
    }))
  const known = [...operation.query].flatMap(([name, schema]) => [
    change(`query ${name} alone`, (base) => ({
      queryText: new URLSearchParams({ [name]: base.query?.[name] ?? '1' }).toString(),
    })),
    ...JUNK_TEXTS.filter(([, text]) => text.length < 5000).map(([what, text]) => set(name, what, text)),
    ...['0', '-1', '1', '1000', '1001', '1.5', '1e3', '0x10', '٣', '9007199254740993', 'true', 'TRUE'].map((text) =>
      set(name, text, text),
    ),
    ...boundaries(schema)
      .filter(([, value]) => typeof value !== 'object')
      .map(([what, value]) => set(name, what, String(value))),
    ...[
      `${name}=1&${name}=2`,
      `${name}[]=1`,
      `${name}[a]=1`,
      `${name}`,
      `${name}=%00`,
      `${name}=%zz`,
      `${name}=%c3`,
    ].map((queryText) => change(`query ${queryText}`, () => ({ queryText }))),
  ])
  const unknown = [
    'x=1',
    '__proto__=1',
    '__proto__[a]=1',
    'constructor=1',
    'toString=1',
    '=',
    '&&&',
    '?',
    '%',
    '%00=1',
    'a=b=c',
    'token=x',
    `q=${'a'.repeat(9000)}`,
    Array.from({ length: 1200 }, (_, i) => `k${i}=1`).join('&'),
  ]
  return [...known, ...unknown.map((text) => change(`query ${text.slice(0, 30)}`, () => ({ queryText: text })))]
}

/** Values at and beside the limits that a schema states. */
function boundaries(schema: Schema | null): readonly (readonly [string, unknown])[] {
  if (schema === null) return []
  const number = (name: string): number | null => (typeof schema[name] === 'number' ? schema[name] : null)
  const lengths = [number('minLength'), number('maxLength')].filter((one) => one !== null)
  const sizes = [number('minItems'), number('maxItems')].filter((one) => one !== null)
  const counts = [number('minProperties'), number('maxProperties')].filter((one) => one !== null)
  const limits = [number('minimum'), number('maximum')].filter((one) => one !== null)
  const around = (one: number): readonly number[] => [one - 1, one, one + 1].filter((length) => length >= 0)
  return [
    ...lengths.flatMap(around).map((length) => [`a text of ${length}`, 'n'.repeat(length)] as const),
    ...sizes
      .flatMap(around)
      .map((length) => [`a list of ${length}`, Array.from({ length }, (_, i) => `n${i}`)] as const),
    ...counts
      .flatMap(around)
      .map((n) => [`${n} keys`, Object.fromEntries(Array.from({ length: n }, (_, i) => [`n${i}`, true]))] as const),
    ...limits.flatMap((one) => [one - 1, one, one + 1, one + 0.5]).map((value) => [String(value), value] as const),
    ...((schema.enum as readonly unknown[] | undefined) ?? []).flatMap((value) => [
      [`${String(value)}`, value] as const,
      [`${String(value)} in capitals`, String(value).toUpperCase()] as const,
      [`${String(value)} in a list`, [value]] as const,
    ]),
    ...(typeof schema.pattern === 'string'
      ? ([
          ['an id with a line break', 'abc\n'],
          ['an id of 64', 'i'.repeat(64)],
          ['an id of 65', 'i'.repeat(65)],
          ['a dotted id', '..'],
          ['zeros', '0'.repeat(64)],
          ['a list with a bad id', ['a b']],
        ] as const)
      : []),
    ...(schema.type === 'integer' ? ([['a float that is whole', raw('2.0')]] as const) : []),
  ]
}

function schemaAt(root: Schema | null, path: Path): Schema | null {
  let schema = root
  for (const step of path) {
    const properties = schema?.properties as Readonly<Record<string, Schema>> | undefined
    const found = typeof step === 'number' ? schema?.items : (properties?.[step] ?? schema?.additionalProperties)
    schema = found !== null && typeof found === 'object' ? (found as Schema) : null
  }
  return schema
}

const PLACES_MAX = 60

/** The place of every value in a body, fields first. */
function placesIn(body: unknown): readonly Path[] {
  const places: Path[] = []
  const open: { readonly path: Path; readonly value: unknown }[] = [{ path: [], value: body }]
  for (let one = open.shift(); one !== undefined && places.length < PLACES_MAX; one = open.shift()) {
    const { path, value } = one
    if (path.length > 0) places.push(path)
    if (value === null || typeof value !== 'object') continue
    const entries = Array.isArray(value) ? [...value.entries()].slice(0, 2) : Object.entries(value)
    for (const [key, inner] of entries) open.push({ path: [...path, key], value: inner })
  }
  return places
}

function withValue(body: unknown, path: Path, value: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return value
  if (Array.isArray(body)) {
    const list = body.map((one, index) => (index === step ? withValue(one, rest, value) : one))
    return list.filter((one) => one !== undefined)
  }
  const fields = (body ?? {}) as Record<string, unknown>
  return { ...fields, [step]: withValue(fields[String(step)], rest, value) }
}
