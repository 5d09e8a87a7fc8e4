import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { makePlace, type Place, type Served, serve } from './process.js'
import { makeRepository } from './projects.js'

const PROGRAM = fileURLToPath(new URL('../../bin/phaselock', import.meta.url))

export interface TestNode {
  readonly place: Place
  server: Served
}

export const SECRET = { ORCHESTRATOR_JWT_SECRET: 'a secret of more than thirty-two bytes' }

/** Runs the program and gives what it said. */
export function run(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve) => {
    const env = { PATH: process.env.PATH, HOME: '/nonexistent', ...environment }
    execFile(PROGRAM, [...words], { env, maxBuffer: 1 << 26 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
    )
  })
}

/** Starts nodes on one database, each with its own work tree. */
export async function startNodes(count: number, store: string, contract = 'tdd'): Promise<TestNode[]> {
  const nodes: TestNode[] = []
  for (let index = 0; index < count; index += 1) {
    const place = await makePlace()
    makeRepository(place.workspace, {
      'package.json': '{"name": "carts", "type": "module", "scripts": {"test": "node --test"}}\n',
    })
    const [first] = nodes
    if (first !== undefined) {
      const made = await run(['nodes', 'prepare', place.stateDir, '--state-dir', first.place.stateDir], {})
      if (made.code !== 0) throw new Error(made.stderr)
    }
    nodes.push({ place, server: await serve(place, contract, { ...SECRET, PHASELOCK_STORE: store }) })
  }
  return nodes
}

export async function startAgain(node: TestNode, store: string, contract = 'tdd'): Promise<void> {
  node.server = await serve(node.place, contract, { ...SECRET, PHASELOCK_STORE: store })
}

/** One server that sends each call to the next node, as a proxy in front of them would. */
export function alternate(nodes: readonly TestNode[]): Served {
  let next = 0
  const [first] = nodes
  if (first === undefined) throw new Error('there is no node')
  return {
    ...first.server,
    call: (...words) => {
      next += 1
      const { server } = nodes[next % nodes.length] ?? first
      return server.call(...words)
    },
  }
}
