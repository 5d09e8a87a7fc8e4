import type { JsonObject } from '../../core/json.js'
import { toObject } from '../client/answer-values.js'

// A gate runs tests, and the machine may have other things to do.
const ANSWER_MS_MAX = 180_000

export interface Answer {
  readonly status: number
  readonly body: JsonObject
}

interface ApiOptions {
  readonly url: string
  readonly operator: string
  readonly signal: AbortSignal
}

/** The REST entrance of the demo's server: refusals are answers here. */
export class Api {
  readonly url: string
  readonly #options: ApiOptions

  constructor(options: ApiOptions) {
    this.url = options.url
    this.#options = options
  }

  /** Asks with the token that is given. */
  async call(token: string, path: string, body?: JsonObject): Promise<Answer> {
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: AbortSignal.any([this.#options.signal, AbortSignal.timeout(ANSWER_MS_MAX)]),
    })
    return { status: response.status, body: toObject((await response.json()) as JsonObject) }
  }

  /** Asks as the operator of the server; what it refuses to its own operator is a fault of the demo. */
  async askAsOperator(path: string, body?: JsonObject): Promise<JsonObject> {
    return this.must(this.#options.operator, path, body)
  }

  /** Asks for what has to be granted. */
  async must(token: string, path: string, body?: JsonObject): Promise<JsonObject> {
    const answer = await this.call(token, path, body)
    if (answer.status < 300) return answer.body
    throw new Error(`${path} was answered with ${answer.status}: ${JSON.stringify(answer.body)}`)
  }
}
