import { beforeAll, describe, expect, it } from 'vitest'
import { built } from '../cli/program.js'
import {
  CODEX_VERSION,
  codex,
  GEMINI_VERSION,
  gemini,
  OPENCODE_VERSION,
  opencode,
} from '../participants/real-agents.js'
import type { Script } from './model.js'
import { Stage, until } from './stage.js'
import type { Call } from './talk.js'
import { CODE, own } from './work.js'

const RUN_MS_MAX = 300_000
// The last is said by a tool that cannot be switched off: it finds the tree read-only.
const TURNED_AWAY = /not found|unavailable tool|unsupported call|Failed to (write|delete) file/
beforeAll(built, RUN_MS_MAX)

const CODEX_OFFERS = [
  ...['list_mcp_resources', 'list_mcp_resource_templates', 'read_mcp_resource', 'request_user_input'],
  ...['apply_patch', 'tool_search'],
]

const AGENTS = [
  {
    ...{ name: `Codex ${CODEX_VERSION} with a model that it has a patch tool for`, harness: 'codex', find: codex },
    ...{ model: 'gpt-5.5', offers: CODEX_OFFERS },
    calls: (tree: string): readonly Call[] => [
      { ...own('apply_patch', {}), text: `*** Begin Patch\n*** Add File: ${tree}/${CODE}\n+x\n*** End Patch\n` },
      { ...own('apply_patch', {}), text: `*** Begin Patch\n*** Delete File: package.json\n*** End Patch\n` },
      own('exec_command', { cmd: `touch ${tree}/${CODE}` }),
    ],
  },
  {
    ...{ name: `Gemini CLI ${GEMINI_VERSION}`, harness: 'gemini', find: gemini, model: 'scripted-1', offers: [] },
    calls: (tree: string): readonly Call[] => [
      own('write_file', { file_path: `${tree}/${CODE}`, content: 'x' }),
      own('run_shell_command', { command: `touch ${tree}/${CODE}` }),
    ],
  },
  {
    ...{ name: `OpenCode ${OPENCODE_VERSION}`, harness: 'opencode', find: opencode, model: 'scripted-1', offers: [] },
    calls: (tree: string): readonly Call[] => [
      own('write', { filePath: `${tree}/${CODE}`, content: 'x' }),
      own('bash', { command: `touch ${tree}/${CODE}`, description: 'x' }),
    ],
  },
]

describe.each(AGENTS)('$name', ({ harness, find, model, offers, calls }) => {
  it(
    '[REQ-REALAGENT-4] changes nothing with the tools that it has of its own',
    async ({ skip }) => {
      const found = find()
      if (!found.ok) return skip(found.reason)
      let script: Script = () => null
      const stage = await Stage.open(found, { own: (talk) => script(talk) })
      const made = calls(stage.place.workspace)
      script = (talk) => made[talk.step] ?? null
      try {
        const started = await stage.run(harness, '[[script:own]] Sum up', '--model', model, '--detach', '--name', 'it')
        expect(started.code, started.output).toBe(0)
        const { results } = await until(
          () => stage.model.talks.find(({ step }) => step === made.length) ?? { results: [] },
          (talk) => talk.results.length === made.length,
        )
        const denied = await until(
          async () => (await stage.events()).filter(({ data }) => data.code === 'unknown_tool'),
          (all) => all.length >= made.length,
        )
        const names = made.map(({ name }) => `${harness}.${name}`)
        expect(denied.map(({ data }) => String(data.tool_name)).toSorted()).toEqual(names.toSorted())
        expect(await stage.task()).toMatchObject({ refusals: made.length })
        const tools = stage.model.talks[0]?.tools ?? []
        expect(tools.filter((name) => !/^(mcp__?)?phaselock_/.test(name)).toSorted()).toEqual(offers.toSorted())
        await stage.phaselock('stop', 'it', '--park')
        expect(stage.tree()).toBe('Start\n')
        for (const { text } of results) expect(text).toMatch(TURNED_AWAY)
      } finally {
        await stage.close()
      }
    },
    RUN_MS_MAX,
  )
})
