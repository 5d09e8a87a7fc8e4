import { beforeAll, describe, it } from 'vitest'
import { built } from '../cli/program.js'
import { GEMINI_VERSION, gemini, OPENCODE_VERSION, opencode } from '../participants/real-agents.js'
import { USAGE } from './talk.js'
import { type Agent, goesThrough } from './whole.js'

const RUN_MS_MAX = 300_000
beforeAll(built, RUN_MS_MAX)

// Slower to start than the others: a file of their own, so that they are run beside them.
const AGENTS: readonly Agent[] = [
  { name: `Gemini CLI ${GEMINI_VERSION}`, harness: 'gemini', find: gemini },
  { name: `OpenCode ${OPENCODE_VERSION}`, harness: 'opencode', find: opencode },
].map((one) => ({ ...one, more: ['--model', 'scripted-1'], others: [], usage: { ...USAGE, cacheWrite: 0 } }))

describe.each(AGENTS)('$name, started by phaselock run', (agent) => {
  it(
    '[REQ-REALAGENT-1] [REQ-REALAGENT-2] [REQ-DEADEND-5] goes through the five phases with the tools of Phaselock alone, up to the commit',
    async ({ skip }) => {
      const found = agent.find()
      return found.ok ? goesThrough(found.program, agent) : skip(found.reason)
    },
    RUN_MS_MAX,
  )
})
