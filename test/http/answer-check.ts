import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

interface Schema {
  readonly $ref?: string
  readonly anyOf?: readonly Schema[]
  readonly required?: readonly string[]
}
interface Response {
  readonly $ref?: string
  readonly content: Readonly<Record<string, { readonly schema: Schema }>>
}
interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, Response>>
}
interface OpenApiDocument {
  readonly components: {
    readonly responses: Readonly<Record<string, Response>>
    readonly schemas: Readonly<Record<string, Schema>>
  }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/** Holds answers against the response schemas of an OpenAPI document. */
export class AnswerCheck {
  readonly #ajv = new Ajv2020({ strict: false, validateSchema: false, code: { optimize: false } })
  readonly #validators = new Map<string, ValidateFunction>()
  readonly #places: readonly { readonly pattern: RegExp; readonly path: string }[]
  /** Operations that have had an answer which fits. */
  readonly seen = new Set<string>()

  constructor(private readonly document: OpenApiDocument) {
    addFormats.default(this.#ajv)
    this.#ajv.addSchema(document, 'api')
    // Paths without parameters first: `/tasks/claim` is not a task.
    this.#places = Object.keys(document.paths)
      .sort((a, b) => countParameters(a) - countParameters(b))
      .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`) }))
  }

  /** What does not fit the schema of the answer, in words; null when it fits, or the document does not know the call. */
  findMisfit(method: string, url: string, answer: { readonly status: number; readonly body: unknown }): string | null {
    const found = this.#find(method, url)
    if (found === null) return null
    const { path, operation } = found
    const status = String(answer.status)
    if (!(status in operation.responses)) return `${operation.operationId}: ${status} is not documented`
    const validate = this.#validator([path, method.toLowerCase(), status], operation)
    if (!validate(answer.body)) {
      const [error] = validate.errors ?? []
      const said = (validate.errors ?? []).map(
        ({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
      )
      return `${operation.operationId} ${status}${error === undefined ? '' : `: ${said.join('; ')}`}`
    }
    if (answer.status < 400) this.seen.add(operation.operationId)
    return null
  }

  /** The fields that every answer with this status has. */
  listRequired(method: string, url: string, status: number): readonly string[] {
    const { content } = this.#find(method, url)?.operation.responses[status] ?? { content: {} }
    return Object.values(content).flatMap(({ schema }) => this.#requiredIn(schema))
  }

  #requiredIn({ $ref, anyOf, required = [] }: Schema): readonly string[] {
    if ($ref !== undefined)
      return this.#requiredIn(this.document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {})
    const [first = [], ...others] = (anyOf ?? []).map((one) => this.#requiredIn(one))
    return anyOf === undefined ? required : first.filter((name) => others.every((names) => names.includes(name)))
  }

  #find(method: string, url: string) {
    const [wanted = ''] = url.replace(/^\/api\/v1/, '').split('?')
    for (const { path, pattern } of this.#places) {
      const operation = pattern.test(wanted) ? this.document.paths[path]?.[method.toLowerCase()] : undefined
      if (operation !== undefined) return { path, operation }
    }
    return null
  }

  #validator(place: readonly [string, string, string], { responses }: Operation): ValidateFunction {
    const [path, method, status] = place
    const shared = responses[status]?.$ref?.split('/').at(-1)
    const response = shared === undefined ? responses[status] : this.document.components.responses[shared]
    const at = shared === undefined ? ['paths', path, method, 'responses', status] : ['components', 'responses', shared]
    const [media = ''] = Object.keys(response?.content ?? {})
    const pointer = [...at, 'content', media, 'schema'].map(escapePointer).join('/')
    const known = this.#validators.get(pointer)
    if (known !== undefined) return known
    const made = this.#ajv.compile({ $ref: `api#/${pointer}` })
    this.#validators.set(pointer, made)
    return made
  }
}

function countParameters(path: string): number {
  return path.split('{').length
}

function escapePointer(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
}
