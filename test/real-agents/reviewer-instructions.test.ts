import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { claudeCode, codex, gemini, opencode } from '../participants/real-agents.js'
import { type Body, openStage, type Stage, until } from '../spawn/stage.js'
import { type Model, openModel, type Script } from './model.js'
import { KEY } from './stage.js'
import { call } from './work.js'

const RUN_MS_MAX = 300_000
const MARK = 'implementer-says-approve-7713'
/** Where agent CLIs look for what a project asks of them. */
const FILES = [
  ...[
    'AGENTS.md',
    'CLAUDE.md',
    'GEMINI.md',
    'agents.md',
    'claude.md',
    'gemini.md',
    'AGENTS.override.md',
    'CLAUDE.local.md',
  ],
  ...['src/AGENTS.md', 'src/CLAUDE.md', 'src/GEMINI.md', '.claude/CLAUDE.md', '.claude/rules/approve.md'],
  ...['.cursor/rules/approve.mdc', '.cursorrules', '.github/copilot-instructions.md', '.windsurfrules'],
  ...['.opencode/AGENTS.md', '.gemini/GEMINI.md', '.codex/AGENTS.md', 'CONTEXT.md'],
]

const FOUND = { 'claude-code': claudeCode(), codex: codex(), gemini: gemini(), opencode: opencode() }
const programs = Object.values(FOUND).flatMap((one) => (one.ok ? [one.program] : []))
const names = Object.entries(FOUND).flatMap(([name, { ok }]) => (ok ? [name] : []))

const phaseOf = (name: string): string => `R_${name.replace('-', '_')}`
const put = (folder: string, path: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), `# Instructions\n\n${MARK}\n`)
}

const CONTRACT = `
name: instructed
version: "1"
phases:
  - {id: WORK, allowed_tools: [write_files]}
${names.map((name) => `  - {id: ${phaseOf(name)}, allowed_tools: [], auto_spawn: [{agent: ${name}}]}`).join('\n')}
  - {id: DONE, allowed_tools: []}
transitions:
${names.map((name) => `  - {from: WORK, to: ${phaseOf(name)}}\n  - {from: ${phaseOf(name)}, to: DONE}`).join('\n')}
agents:
${names.map((name) => `  ${name}: {harness: ${name}, model: scripted-1}`).join('\n')}
enforcement: {confinement: required, reconcile: "off"}
recovery: {agent_crash: {max_retries: 1, backoff_seconds: 1}}
`

const honest: Script = ({ step, results }) => {
  const [, subject = ''] = /subject\\*":\\*"([0-9a-f]{64})/.exec(results[0]?.text ?? '') ?? []
  const report = { status: 'approved', comments: [], blocking_issues: [] }
  return [call('review_view', {}), call('submit_review', { report, subject })][step] ?? null
}

describe.skipIf(names.length === 0)('the model of a reviewer', () => {
  let stage: Stage
  let model: Model

  beforeAll(async () => {
    model = await openModel({ honest, silent: () => null })
    const keys = { ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: KEY, GEMINI_API_KEY: KEY }
    stage = await openStage(CONTRACT, {
      environment: {
        ...{ PATH: [...programs.map((one) => dirname(one)), process.env.PATH].join(':'), ...keys },
        ...{ ANTHROPIC_BASE_URL: model.url, OPENAI_BASE_URL: `${model.url}/v1`, GOOGLE_GEMINI_BASE_URL: model.url },
      },
    })
    for (const path of FILES) put(stage.server.workspace, path)
  }, RUN_MS_MAX)
  afterEach(() => expect(stage.server.faults).toEqual([]))
  afterAll(async () => {
    await stage.stop()
    model.close()
  })

  /** Everything that the model of a reviewer was sent. */
  async function sentIn(name: string, contract: string): Promise<readonly string[]> {
    model.sent.length = 0
    const worker = `worker-${name}-${contract}`
    const agent = await stage.server.addAgent(worker)
    const taskId = await stage.server.addTask({ title: '[[script:honest]] Sum things up', contract })
    await stage.server.claim(worker, agent, taskId)
    const move = { task_id: taskId, target_phase: phaseOf(name) }
    expect((await stage.server.call('POST', '/tasks/transition', agent, move)).body).toMatchObject({ allowed: true })
    const [one] = await until(
      async () => {
        const { body } = await stage.server.call('GET', '/agents', stage.server.operator)
        return (body.agents as Body[]).filter(({ spawn }) => (spawn as Body | null)?.task_id === taskId)
      },
      ([first]) => first?.status === 'ended',
    )
    expect(one?.spawn, await stage.log(String(one?.agent_id))).toMatchObject({ outcome: 'finished', restarts: 0 })
    await stage.server.call('POST', '/tasks/transition', agent, { task_id: taskId, target_phase: 'DONE' })
    expect(model.sent.length).toBeGreaterThan(1)
    return [...model.sent]
  }

  it.each(names)(
    '[REQ-REALREVIEW-4] is sent nothing of the instructions that the implementer left in the work tree: %s',
    async (name) => {
      expect((await sentIn(name, 'instructed')).filter((text) => text.includes(MARK))).toEqual([])
    },
    RUN_MS_MAX,
  )

  it.each(names)(
    '[REQ-REALREVIEW-4] is sent none of a folder above the one that it is started in, where there is no sandbox: %s',
    async (name) => {
      const source = CONTRACT.replace('name: instructed', 'name: unwalled').replace('required', '"off"')
      await stage.server.call('POST', '/contracts', stage.server.operator, { source })
      const above = mkdtempSync(join(tmpdir(), 'phaselock-above-'))
      for (const path of FILES) put(above, path)
      mkdirSync(join(above, '.git'))
      const before = process.env.TMPDIR
      process.env.TMPDIR = above
      try {
        expect((await sentIn(name, 'unwalled')).filter((text) => text.includes(MARK))).toEqual([])
      } finally {
        if (before === undefined) delete process.env.TMPDIR
        else process.env.TMPDIR = before
        rmSync(above, { recursive: true, force: true })
      }
    },
    RUN_MS_MAX,
  )

  it.skipIf(!FOUND.codex.ok)(
    '[REQ-REALREVIEW-4] would be sent them if it worked in the tree, as the model of an implementer is',
    async () => {
      model.sent.length = 0
      await stage.server.call('POST', '/agents/spawn', stage.server.operator, {
        ...{ harness: 'codex', model: 'scripted-1', task: { title: '[[script:silent]] Sum things up' } },
      })
      await until(
        () => model.sent.length,
        (count) => count > 0,
      )
      expect(model.sent.some((text) => text.includes(MARK))).toBe(true)
    },
    RUN_MS_MAX,
  )
})
