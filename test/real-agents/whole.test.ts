import { beforeAll, describe, it } from 'vitest'
import { built } from '../cli/program.js'
import { depth } from '../depth.js'
import { CLAUDE_VERSION, CODEX_VERSION, claudeCode, codex } from '../participants/real-agents.js'
import { USAGE } from './talk.js'
import { type Agent, goesThrough } from './whole.js'

const RUN_MS_MAX = 300_000
beforeAll(built, RUN_MS_MAX)

const AGENTS: readonly Agent[] = [
  {
    ...{ name: `Claude Code ${CLAUDE_VERSION}`, harness: 'claude-code', find: claudeCode },
    ...{ more: [], others: [], usage: USAGE },
  },
  {
    ...{ name: `Codex ${CODEX_VERSION}`, harness: 'codex', find: codex, more: ['--model', 'scripted-1'] },
    // They lead to what Phaselock has to read, and to nobody.
    others: ['list_mcp_resources', 'list_mcp_resource_templates', 'read_mcp_resource', 'request_user_input'],
    // It does not tell what it wrote into the cache.
    usage: { ...USAGE, cacheWrite: 0 },
  },
]

describe.each(depth(AGENTS.slice(0, 1), AGENTS))('$name, started by phaselock run', (agent) => {
  it(
    '[REQ-REALAGENT-1] [REQ-REALAGENT-2] [REQ-DEADEND-5] goes through the five phases with the tools of Phaselock alone, up to the commit',
    async ({ skip }) => {
      const found = agent.find()
      return found.ok ? goesThrough(found.program, agent) : skip(found.reason)
    },
    RUN_MS_MAX,
  )
})
