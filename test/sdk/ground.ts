import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePlace, type Served, serve } from '../e2e/process.js'
import { start } from '../http/harness.js'

export type Body = Record<string, unknown>
type Operator = (method: string, path: string, body?: unknown) => Promise<{ status: number; body: Body }>

/** A real server that scenes play on, and what an operator asks of it. */
export interface Ground {
  readonly port: number
  readonly dir: string
  readonly operator: Operator
  /** What is done to the server itself, which only a scene that has it alone may ask for. */
  change(what: string, seconds: number): Promise<Body>
  close(): Promise<void>
}

export type GroundKind = 'shared' | 'own' | 'clock'

export async function openGround(kind: GroundKind, contracts: readonly unknown[]): Promise<Ground> {
  const ground = kind === 'clock' ? await clockedGround() : await processGround(kind)
  for (const contract of contracts) await ground.operator('POST', '/contracts', { contract })
  return ground
}

/** A process, as it is run. */
async function processGround(kind: GroundKind): Promise<Ground> {
  const place = await makePlace()
  layDocuments(place.workspace)
  let served: Served | null = await serve(place, 'tdd')
  let starting = Promise.resolve()
  const begin = async (): Promise<void> => {
    served = await serve(place, 'tdd')
  }
  return {
    port: place.port,
    dir: place.dir,
    operator: (method, path, body) => {
      if (served === null) throw new Error('there is no server')
      return served.call(method, path, served.operator, body)
    },
    change: async (what) => {
      if (kind === 'shared') throw new Error(`a server that is shared cannot ${what}`)
      if (what === 'start') await begin()
      else if (what === 'kill' || what === 'restart_soon') {
        await served?.kill()
        served = null
      } else throw new Error(`a server cannot ${what}`)
      if (what === 'restart_soon') starting = new Promise((resolve) => setTimeout(resolve, RESTART_MS)).then(begin)
      return {}
    },
    close: async () => {
      await starting
      await served?.stop()
      place.remove()
    },
  }
}

/** A server in this process, whose clock can be moved. */
async function clockedGround(): Promise<Ground> {
  const running = await start()
  let offsetMs = 0
  return {
    port: running.port,
    dir: running.workspace,
    operator: (method, path, body) => running.call(method, path, running.operator, body),
    change: async (what, seconds) => {
      if (what !== 'clock') throw new Error(`a server with a clock cannot ${what}`)
      offsetMs += seconds * 1000
      running.now = Date.now() + offsetMs
      return {}
    },
    close: () => running.stop(),
  }
}

const RESTART_MS = 500

/** What there is to read in every work tree. */
export function layDocuments(workspace: string): void {
  mkdirSync(join(workspace, 'docs'), { recursive: true })
  for (const [file, text] of Object.entries(DOCUMENTS)) writeFileSync(join(workspace, file), text)
}

const DOCUMENTS: Readonly<Record<string, string>> = {
  'docs/names.md': '# Names\n\nNames are nouns of the product, and marmalade is one.\n',
  'docs/hello.txt': 'hello\n',
}
