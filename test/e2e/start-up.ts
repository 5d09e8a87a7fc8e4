import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Place } from '../cli/program.js'
import type { Served } from './process.js'

/** Starts a server with `phaselock up`, and calls it as an agent or the operator would. */
export async function startUp(place: Place, env: NodeJS.ProcessEnv = {}): Promise<Served> {
  const started = await place.run(['up', '--port', '0', '--json'], { env })
  if (started.code !== 0) throw new Error(`up ended with ${started.code}: ${started.stderr}`)
  const { url, state_dir: stateDir } = JSON.parse(started.stdout) as Record<string, unknown>
  const call: Served['call'] = async (method, path, token, body) => {
    const response = await fetch(`${String(url)}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return {
      status: response.status,
      body: (await response.json()) as Record<string, unknown>,
      headers: response.headers,
    }
  }
  const operator = readFileSync(join(String(stateDir), 'operator.token'), 'utf8').trim()
  return { call, operator } as Served
}
