import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  CLAUDE_VERSION,
  CODEX_VERSION,
  claudeCode,
  codex,
  GEMINI_VERSION,
  gemini,
  OPENCODE_VERSION,
  opencode,
} from '../participants/real-agents.js'
import { tokens } from '../spawn/metered-stage.js'
import { contractWith, openStage, type Stage } from '../spawn/stage.js'
import { openModel, type Script } from './model.js'
import { KEY, until } from './stage.js'
import { USAGE } from './talk.js'

const RUN_MS_MAX = 300_000
const STEPS_MAX = 30
/** Passed by the third answer. */
const BUDGET = 2 * (USAGE.input + USAGE.output) + 1

const AGENTS = [
  { name: `Codex ${CODEX_VERSION}`, harness: 'codex', find: codex, model: 'scripted-1' },
  { name: `Gemini CLI ${GEMINI_VERSION}`, harness: 'gemini', find: gemini, model: 'scripted-1' },
  { name: `OpenCode ${OPENCODE_VERSION}`, harness: 'opencode', find: opencode, model: 'scripted-1' },
  { name: `Claude Code ${CLAUDE_VERSION}`, harness: 'claude-code', find: claudeCode, model: undefined },
]

const phases = (action: string): string => `phases:
  - id: PLAN
    allowed_tools: [read_files]
    prompt: "Plan it."
    rules: [{type: token_budget, max_tokens: ${BUDGET}, on_violation: ${action}}]
  - {id: DONE, allowed_tools: []}
`

describe.each(AGENTS)('$name', ({ harness, find, model: name }) => {
  /** Starts it on a task whose model does as the script says, and ends everything when the work is done. */
  async function staged(
    program: string,
    about: { readonly action: string; readonly script: Script },
    work: (stage: Stage, ids: { readonly agentId: string; readonly taskId: string }) => Promise<void>,
  ): Promise<void> {
    const model = await openModel({ spends: about.script })
    const stage = await openStage(contractWith({ phases: phases(about.action) }), {
      environment: {
        PATH: `${dirname(program)}:${process.env.PATH}`,
        ...{ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: model.url },
        ...{ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${model.url}/v1` },
        ...{ GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: model.url },
      },
    })
    try {
      writeFileSync(join(stage.server.workspace, 'a.txt'), 'hello')
      const task = { title: '[[script:spends]] Read without end' }
      const started = { harness, command: program, ...(name === undefined ? {} : { model: name }) }
      const { body } = await stage.server.call('POST', '/agents/spawn', stage.server.operator, { ...started, task })
      await work(stage, { agentId: String(body.agent_id), taskId: String(body.task_id) })
      expect(stage.server.faults).toEqual([])
    } finally {
      await stage.stop()
      model.close()
    }
  }

  const read = { name: 'read_files', input: { paths: ['a.txt'] } }

  it(
    '[REQ-METER-7] that goes over its token budget half-way is told so with its next call, while it runs',
    async ({ skip }) => {
      const found = find()
      if (!found.ok) return skip(found.reason)
      let told: number | null = null
      let state: unknown = null
      let look: () => Promise<unknown> = async () => null
      const script: Script = async ({ step, results }) => {
        const isTold = results.some(({ text }) => text.includes('Token Budget Exceeded'))
        if (isTold && told === null) {
          state = await look()
          told = step
        }
        return isTold || step >= STEPS_MAX ? null : read
      }
      await staged(found.program, { action: 'interrupt', script }, async (stage, { agentId }) => {
        look = async () => (await stage.show(agentId)).state
        await until(
          () => told,
          (at) => at !== null,
        )
        expect(state).toBe('running')
        expect(told).toBeLessThan(STEPS_MAX)
      })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-METER-7] that goes over a token budget which parks is ended in the middle of its run, and was counted',
    async ({ skip }) => {
      const found = find()
      if (!found.ok) return skip(found.reason)
      let steps = 0
      const script: Script = async ({ step }) => {
        steps = Math.max(steps, step)
        // As a model that thinks for a moment.
        await new Promise((resolve) => setTimeout(resolve, 200))
        return step >= STEPS_MAX ? null : read
      }
      await staged(found.program, { action: 'park', script }, async (stage, { agentId, taskId }) => {
        const ended = await until(
          () => stage.show(agentId),
          (one) => one.state === 'ended',
        )
        expect(ended, await stage.log(agentId)).toMatchObject({ outcome: 'parked' })
        expect(steps).toBeLessThan(STEPS_MAX)
        const { input, output } = (await tokens(stage, taskId)) as { input: number; output: number }
        expect(input + output).toBeGreaterThan(BUDGET)
      })
    },
    RUN_MS_MAX,
  )
})
