import { setTimeout as wait } from 'node:timers/promises'
import type { JsonObject } from '../../core/json.js'
import { EXIT, Stop } from '../exit.js'
import { tell } from '../terminal/terminal.js'
import { Client, type Query } from './client.js'
import { type ClientOptions, pinServer } from './connection.js'

const RETRY_MS = 1000
const RETRIES_MAX = 300

/** Reads from a server that may be started anew meanwhile: once it was reached, it is asked again for five minutes. */
export class LastingClient {
  readonly #options: ClientOptions
  #isReached = false

  constructor(options: ClientOptions) {
    this.#options = pinServer(options)
  }

  async get(path: string, query: Query = {}): Promise<JsonObject> {
    for (let tries = 0; ; tries += 1) {
      try {
        const answer = await new Client(this.#options).get(path, query)
        if (tries > 0) tell('Connected again.')
        this.#isReached = true
        return answer
      } catch (error) {
        if (!this.#isReached || !isAway(error) || tries >= RETRIES_MAX) throw error
        if (tries === 0) tell('The connection is lost; trying again …')
      }
      await wait(RETRY_MS)
    }
  }
}

function isAway(error: unknown): boolean {
  if (!(error instanceof Stop)) return false
  const problem = error.details.problem as JsonObject | undefined
  return error.exit === EXIT.unreachable || problem?.code === 'shutting_down'
}
