import type { Json, JsonObject } from '../../core/json.js'
import type { SourceNode } from '../load/yaml.js'
import { Fields } from '../read/fields.js'
import { flag, type Kind, type Scope, type TypeOf } from './kinds.js'

/** Whether a field is always in the canonical document, only if it is written, or never. */
type Presence = 'always' | 'maybe' | 'never'

/** One field of an object; its only definition. */
export interface Field<T, P extends Presence = Presence> extends FieldOptions<T> {
  readonly kind: Kind<T>
  readonly presence: P
  readonly isRequired: boolean
  /** The value if the field is not written, or cannot be used. */
  readonly fallback?: T
  /** What it means, in Markdown. */
  readonly about: string
  /** A value, for the reference and for remedies. */
  readonly example: string
}

interface FieldOptions<T> {
  /** Its kind in the reference, if the kind's own name is not enough. */
  readonly words?: string
  /** The default in the reference. */
  readonly unset?: string
  /** Additions to the JSON Schema of its kind. */
  readonly json?: JsonObject
  /** The warning if the key does not do what it says; null if it does. */
  readonly differs?: string | ((value: T) => string | null)
  /** Values that mean the same as none: they are left out of the document, so that its fingerprint does not change. */
  readonly isNone?: (value: T) => boolean
}

/** A field that must be written. */
export function need<T>(kind: Kind<T>, about: string, example: string, more: FieldOptions<T> = {}): Field<T, 'always'> {
  return { kind, presence: 'always', isRequired: true, about, example, ...more }
}

/** A field with a default. */
export function otherwise<T>(
  kind: Kind<T>,
  about: string,
  example: string,
  more: FieldOptions<T> & { readonly fallback: NoInfer<T> },
): Field<T, 'always'> {
  return { kind, presence: 'always', isRequired: false, about, example, ...more }
}

/** A field that is in the document only if it is written. */
export function maybe<T>(kind: Kind<T>, about: string, example: string, more: FieldOptions<T> = {}): Field<T, 'maybe'> {
  return { kind, presence: 'maybe', isRequired: false, about, example, ...more }
}

/** A field that is checked and not stored. */
export function unkept<T>(
  kind: Kind<T>,
  about: string,
  example: string,
  more: FieldOptions<T> = {},
): Field<T, 'never'> {
  return { kind, presence: 'never', isRequired: false, about, example, ...more }
}

/** A flag that is always true. */
export function alwaysTrue(warning: string): Field<boolean, 'never'> {
  const differs = (isTrue: boolean): string | null => (isTrue ? null : warning)
  return unkept(flag, 'Always true; `false` causes a warning.', 'true', { unset: '`true`', differs })
}

// biome-ignore lint/suspicious/noExplicitAny: a field of any type
export type AnyField = Field<any>
export type Shape = Readonly<Record<string, AnyField>>

type KeysOf<S extends Shape, P extends Presence> = {
  [K in keyof S]: S[K]['presence'] extends P ? K : never
}[keyof S]

/** The type of an object of the document, from its fields. */
export type ReadOf<S extends Shape> = {
  -readonly [K in KeysOf<S, 'always'>]: TypeOf<S[K]['kind']>
} & { -readonly [K in KeysOf<S, 'maybe'>]?: TypeOf<S[K]['kind']> }

interface ObjectOptions<S extends Shape, T> {
  /** Its name in the reference; by default a link to its heading. */
  readonly words?: string
  /** Additions to the JSON Schema of the fields. */
  readonly json?: JsonObject
  /** Checks across several fields, and the final content of the document; null when it cannot be used. */
  readonly finish?: (value: ReadOf<S>, fields: Fields, scope: Scope) => T | null
}

/** A named definition in the JSON Schema; with fields, it has a table in the reference. */
export interface Part<S extends Shape = Shape> {
  readonly name: string
  readonly definition: JsonObject
  readonly fields: S
}

/** A map with known fields. */
export interface ObjectKind<T, S extends Shape = Shape> extends Kind<T>, Part<S> {
  readonly keys: readonly string[]
}

/** A map with these fields: `name` is its name in the JSON Schema, `title` its heading in the reference. */
export function object<S extends Shape, T extends object = ReadOf<S>>(
  name: string,
  title: string,
  fields: S,
  { words, json = {}, finish }: ObjectOptions<S, T> = {},
): ObjectKind<T, S> {
  const keys = Object.keys(fields)
  const kind: ObjectKind<T, S> = {
    name,
    fields,
    keys,
    definition: defined(title, fields, json),
    json: { $ref: `#/$defs/${name}` },
    words: words ?? linked(title),
    get parts() {
      return [kind]
    },
    read: (node, scope) => {
      const found = Fields.openFields(scope.reading, node, keys)
      if (found === null) return null
      const read = readFields(fields, found, scope) as ReadOf<S>
      const made = finish === undefined ? (read as unknown as T) : finish(read, found, scope)
      return made === null ? null : scope.reading.made(made, node)
    },
  }
  return kind
}

function readFields(shape: Shape, fields: Fields, { reading, owner }: Scope): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(shape)) {
    const node: SourceNode | undefined = fields.get(key)
    const scope = { reading, key, example: field.example, owner }
    if (node === undefined && field.isRequired) {
      if (field.kind.reportMissing === undefined) fields.missing(key, field.example)
      else field.kind.reportMissing(fields, scope)
    }
    const read = node === undefined ? null : field.kind.read(node, scope)
    const differs = typeof field.differs === 'function' && read !== null ? field.differs(read) : field.differs
    if (read !== null && typeof differs === 'string') fields.reportBad(key, 'contract.effect_differs', differs)
    if (field.presence === 'never' || (field.presence === 'maybe' && node === undefined)) continue
    const value = read ?? copyOf(field.fallback === undefined ? field.kind.blank : field.fallback)
    if (value !== undefined && field.isNone?.(value) !== true) values[key] = value
  }
  return values
}

// Two contracts must never share a list that one of them changes.
function copyOf(value: unknown): unknown {
  return typeof value === 'object' ? structuredClone(value) : value
}

function defined(title: string, fields: Shape, json: JsonObject): JsonObject {
  const required = Object.keys(fields).filter((key) => fields[key]?.isRequired)
  const properties = Object.entries(fields).map(([key, field]): [string, Json] => [
    key,
    { description: plain(field.about), ...field.kind.json, ...field.json },
  ])
  return {
    type: 'object',
    description: `${title}.`,
    properties: Object.fromEntries(properties),
    patternProperties: { '^x-': {} },
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
    ...json,
  }
}

/** Markdown without its marks. */
function plain(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '')
}

function linked(title: string): string {
  const anchor = title.toLowerCase().replace(/[^\w\- ]/g, '')
  const isAcronym = /^[A-Z]{2}/.test(title)
  return `[${isAcronym ? title : title.charAt(0).toLowerCase() + title.slice(1)}](#${anchor.replaceAll(' ', '-')})`
}

/** For `isNone`: a list or map without entries. */
export function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0
}

/** The content of an object that is not written at all. */
export function buildDefaults<S extends Shape>(fields: S): ReadOf<S> {
  const given = Object.entries(fields).filter(([, field]) => field.fallback !== undefined)
  return Object.fromEntries(given.map(([key, field]) => [key, field.fallback])) as ReadOf<S>
}
