import { OperatorClient } from 'phaselock/sdk'
import { isObject, type JsonObject } from '../../core/json.js'

// A gate runs tests, and the machine may be busy.
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

/** The REST entrance of the demo's server. */
export class Api {
  readonly url: string
  /** The operator of the server; a refusal to its own operator is a fault of the demo. */
  readonly operator: OperatorClient
  readonly #signal: AbortSignal

  constructor({ url, operator, signal }: ApiOptions) {
    this.url = url
    this.#signal = signal
    this.operator = this.as(operator)
  }

  /** A caller with this token, for calls that must succeed. */
  as(token: string): OperatorClient {
    return new OperatorClient({ url: this.url, token, signal: this.#signal, callMsMax: ANSWER_MS_MAX })
  }

  /** Calls with the given token: refusals are answers here. */
  async call(token: string, path: string, body: JsonObject): Promise<Answer> {
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.any([this.#signal, AbortSignal.timeout(ANSWER_MS_MAX)]),
    })
    const answer: unknown = await response.json()
    return { status: response.status, body: isObject(answer) ? answer : {} }
  }
}
