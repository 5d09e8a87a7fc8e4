import type { Json } from '../core/json.js'

interface PromptValues {
  readonly task: { readonly title: string; readonly description: string }
  readonly artifacts: ReadonlyMap<string, Json> | Readonly<Record<string, Json>>
  readonly guides: ReadonlyMap<string, string>
  /** Values of `{{?name}}`; a missing one renders as nothing. */
  readonly variables?: Readonly<Record<string, string>>
}

type Placeholder =
  | { readonly kind: 'task'; readonly field: 'title' | 'description' }
  | { readonly kind: 'artifact'; readonly type: string; readonly path: readonly string[] }
  | { readonly kind: 'guide'; readonly name: string }
  | { readonly kind: 'optional'; readonly name: string }
  | { readonly kind: 'bare'; readonly name: string }
  | { readonly kind: 'unknown'; readonly text: string }

const PLACEHOLDER = /\{\{([^{}]{0,256})\}\}/g
const VALUE_CHARS_MAX = 20_000
const GUIDE_NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/

/** The prompt with its placeholders filled in, in one pass: text from an artifact is never read as a placeholder. */
export function renderPrompt(text: string, values: PromptValues): string {
  return text.replace(PLACEHOLDER, (_whole, inner: string) => fill(parsePlaceholder(inner), values))
}

/** The placeholders of a prompt, in order. */
export function parsePlaceholders(text: string): Placeholder[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, inner]) => parsePlaceholder(inner ?? ''))
}

/** In `nodes:` files a bare `{{NAME}}` is a guide; the canonical prompt says so. */
export function convertBareNames(text: string): string {
  return text.replace(PLACEHOLDER, (whole, inner: string) => {
    const placeholder = parsePlaceholder(inner)
    return placeholder.kind === 'bare' ? `{{guide:${placeholder.name}}}` : whole
  })
}

function parsePlaceholder(inner: string): Placeholder {
  const text = inner.trim()
  if (text === 'task.title') return { kind: 'task', field: 'title' }
  if (text === 'task.description') return { kind: 'task', field: 'description' }
  if (text.startsWith('guide:')) {
    const name = text.slice('guide:'.length).trim()
    return GUIDE_NAME.test(name) ? { kind: 'guide', name } : { kind: 'unknown', text }
  }
  if (text.startsWith('?')) {
    const name = text.slice(1).trim()
    return GUIDE_NAME.test(name) ? { kind: 'optional', name } : { kind: 'unknown', text }
  }
  if (text.startsWith('artifacts.')) {
    const [type = '', ...path] = text.slice('artifacts.'.length).split('.')
    return type === '' || path.includes('') ? { kind: 'unknown', text } : { kind: 'artifact', type, path }
  }
  return GUIDE_NAME.test(text) && !text.includes('.') ? { kind: 'bare', name: text } : { kind: 'unknown', text }
}

function fill(placeholder: Placeholder, values: PromptValues): string {
  switch (placeholder.kind) {
    case 'task':
      return values.task[placeholder.field]
    case 'artifact': {
      const value = findArtifactValue(placeholder, values.artifacts)
      return value === undefined
        ? formatMissing(['artifacts', placeholder.type, ...placeholder.path].join('.'))
        : formatValue(value)
    }
    case 'guide':
      return values.guides.get(placeholder.name) ?? formatMissing(`guide:${placeholder.name}`)
    case 'optional':
      return findVariable(placeholder.name, values) ?? ''
    case 'bare':
      return (
        values.guides.get(placeholder.name) ?? findVariable(placeholder.name, values) ?? formatMissing(placeholder.name)
      )
    case 'unknown':
      return formatMissing(placeholder.text)
  }
}

function findVariable(name: string, values: PromptValues): string | undefined {
  return values.variables !== undefined && Object.hasOwn(values.variables, name) ? values.variables[name] : undefined
}

function findArtifactValue(
  placeholder: { readonly type: string; readonly path: readonly string[] },
  artifacts: PromptValues['artifacts'],
): Json | undefined {
  let value: Json | undefined =
    artifacts instanceof Map ? artifacts.get(placeholder.type) : getMember(artifacts as Json, placeholder.type)
  for (const key of placeholder.path) value = value === undefined ? undefined : getMember(value, key)
  return value
}

function getMember(value: Json, key: string): Json | undefined {
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined
  return (value as Readonly<Record<string, Json>>)[key]
}

function formatValue(value: Json): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  if (text.length <= VALUE_CHARS_MAX) return text
  return `${text.slice(0, VALUE_CHARS_MAX)}\n[cut: ${text.length - VALUE_CHARS_MAX} more characters]`
}

function formatMissing(name: string): string {
  return `[missing: ${name}]`
}
