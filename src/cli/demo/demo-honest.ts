import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { packagePath } from '../../base/package-root.js'
import { plainLine } from '../../core/plain-text.js'
import type { Api } from './demo-api.js'
import { buildServerEnvironment, type Stage } from './demo-stage.js'

const PROGRAM = packagePath('demo/honest-agent.mjs')
const STEPS_MAX = 200
const COMPLAINT_CHARS_MAX = 2000

/** The steps of the honest agent, as it reports them. */
export interface Step {
  readonly phase: string
  readonly did: string
  readonly note: string
  /** Empty if nothing blocked it. */
  readonly code: string
  readonly why: string
  /** The approval that it waits for; empty if none. */
  readonly approval: string
}

/** Runs the honest agent: a separate process with a token and the address, like any other agent. */
export async function* runHonestSteps(
  stage: Stage,
  api: Api,
  agent: { readonly id: string; readonly token: string },
): AsyncGenerator<Step, void, undefined> {
  const child = stage.own(
    spawn(process.execPath, [PROGRAM], {
      env: {
        ...buildServerEnvironment(),
        PHASELOCK_URL: api.url,
        PHASELOCK_TOKEN: agent.token,
        PHASELOCK_AGENT_ID: agent.id,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  let complaint = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint = `${complaint}${chunk.toString()}`.slice(0, COMPLAINT_CHARS_MAX)
  })
  if (child.stdout === null) throw new Error('the honest agent has no output')
  let count = 0
  for await (const line of createInterface({ input: child.stdout })) {
    count += 1
    if (count > STEPS_MAX) throw new Error('the honest agent does not finish')
    yield toStep(JSON.parse(line) as Partial<Step>)
  }
  const code = await ended
  if (code !== 0) throw new Error(`the honest agent ended with ${code}: ${complaint}`)
}

function toStep({ phase, did, note, code, why, approval }: Partial<Step>): Step {
  return {
    ...{ phase: plainLine(phase), did: plainLine(did), note: plainLine(note) },
    ...{ code: plainLine(code), why: plainLine(why), approval: plainLine(approval) },
  }
}
