import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { ROOT, SCRIPT } from '../cli/program.js'
import { makeRepository } from '../e2e/projects.js'
import { answerForm } from '../launch/claude-session.js'
import { Desk } from '../launch/desk.js'
import { hasTmux } from '../launch/terminal.js'
import { claudeCode } from '../participants/real-agents.js'
import type { Script } from '../real-agents/model.js'
import { CODE, CODE_TEXT, call, honest, own } from '../real-agents/work.js'
import { answerBegin } from './begin-form.js'

const RUN_MS_MAX = 300_000
const found = claudeCode()
const program = found.ok ? found.program : ''
const reason = found.ok ? (hasTmux ? null : 'tmux is not installed') : found.reason
const CONTRACT = 'agent_workflow.yaml'
const INSTALL = `claude plugin marketplace add ${ROOT} && claude plugin install phaselock@phaselock --scope project`
let desk: Desk | null = null
let dir = ''
afterEach(() => {
  desk?.close()
  desk = null
  if (dir !== '') rmSync(dir, { recursive: true, force: true })
  dir = ''
})

const TRIES = [
  own('Bash', { command: 'touch evil' }),
  own('Write', { file_path: 'evil.js', content: 'x' }),
  own('Read', { file_path: 'package.json' }),
]
const FIRST = [...TRIES, call('begin_task', { title: 'Sum up the prices of a cart' }), call('claim_task', {})]
const bound: Script = (talk) => FIRST[talk.step] ?? honest({ ...talk, step: talk.step - FIRST.length })
const tries: Script = (talk) => [...TRIES, call('claim_task', {})][talk.step] ?? null

/** The desk with the plugin installed for its repository, as a person does it. */
async function installPlugin(): Promise<Desk> {
  const at = await Desk.open([program], { bound, tries })
  desk = at
  const window = at.window()
  await window.enter(`phaselock init --yes && ${INSTALL} && echo IN"STALLED"`)
  await window.shows(/INSTALLED/)
  at.git('add', '-A')
  at.git('-c', 'user.name=P', '-c', 'user.email=p@example.com', 'commit', '-qm', 'contract and plugin')
  return at
}

describe(`the plugin of Claude Code${reason === null ? '' : ` (skipped: ${reason})`}`, () => {
  it.skipIf(reason !== null)(
    '[REQ-CONNECT-10] binds the session that a person opens, from the task to the commit',
    async () => {
      const at = await installPlugin()
      const window = at.window()
      await window.enter('claude "[[script:bound]] Sum up the prices of a cart"')
      await answerBegin(window)
      await window.shows(/May the agent go from PLAN to TDD/)
      expect(at.phaselock('agents')).toMatch(/claude-\w+ +working .* plugin /)
      await answerForm(window, 'approve')
      await window.shows(/May the agent go from REVIEW to COMPLETE/)
      await answerForm(window, 'approve')
      await window.shows(/Done\./)
      await at.reaches(await at.taskId(), 'completed')
      await window.enter('/exit')
      expect(at.read(CODE)).toBe(CODE_TEXT)
      const results = at.model.talks.at(-1)?.results.slice(0, TRIES.length) ?? []
      expect(results.map(({ isError }) => isError)).toEqual([true, true, true])
      expect(results[0]?.text).toContain('Phaselock: this tool is off in this repository')
      expect(at.git('status', '--porcelain')).toBe('')
    },
    RUN_MS_MAX,
  )

  it.skipIf(reason !== null)(
    '[REQ-CONNECT-10] tools of Phaselock do nothing where a setting switches its hooks off, and own tools nothing where phaselock is missing',
    async () => {
      const at = await installPlugin()
      const window = at.window()
      writeFileSync(join(at.repository, '.claude/settings.local.json'), '{"disableAllHooks": true}')
      const allowed = '--permission-mode dontAsk --allowedTools mcp__plugin_phaselock_phaselock'
      await window.enter(`claude -p "[[script:tries]] Sum up" ${allowed}; echo EN"DED"`)
      await window.shows(/ENDED/)
      const open = at.model.talks.at(-1)?.results ?? []
      expect(open.at(-1)).toMatchObject({ isError: true, text: expect.stringContaining('enforcement_not_live') })
      rmSync(join(at.repository, '.claude/settings.local.json'))
      const other = at.window()
      await other.enter(
        `PATH=${dirname(program)}:/usr/bin:/bin claude -p "[[script:tries]] Once more" --permission-mode dontAsk; echo EN"DED"`,
      )
      await other.shows(/ENDED/)
      const last = at.model.talks.at(-1)?.results ?? []
      expect(last.slice(0, TRIES.length).every(({ text }) => text.includes('Phaselock: this tool is off'))).toBe(true)
      expect(at.git('status', '--porcelain')).toBe('')
    },
    RUN_MS_MAX,
  )

  it.skipIf(!found.ok)(
    '[REQ-CONNECT-10] doctor --agents finds it, and tries a call that must be refused',
    () => {
      dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-plugin-')))
      const repository = join(dir, 'repository')
      mkdirSync(join(dir, 'home'))
      makeRepository(repository, { 'package.json': '{"scripts": {"test": "node --test"}}\n' })
      writeFileSync(
        join(dir, 'home/.claude.json'),
        JSON.stringify({ projects: { [repository]: { hasTrustDialogAccepted: true } } }),
      )
      const PATH = [dirname(program), dirname(SCRIPT), dirname(process.execPath), '/usr/bin', '/bin'].join(':')
      const run = (command: string) =>
        spawnSync('sh', ['-c', command], { cwd: repository, env: { HOME: join(dir, 'home'), PATH }, encoding: 'utf8' })
      const doctor = () => run('phaselock doctor --agents').stdout
      expect(run(INSTALL).status).toBe(0)
      expect(doctor()).toMatch(/plugin.*no contract/)
      writeFileSync(join(repository, CONTRACT), 'extends: phaselock/tdd\n')
      expect(doctor()).toMatch(/claude canary.*plugin, tools-only; a call of its shell tool was refused/)
      writeFileSync(join(repository, '.claude/settings.local.json'), '{"disableAllHooks": true}')
      expect(doctor()).toContain('enforcement_not_live')
      writeFileSync(
        join(repository, '.claude/settings.local.json'),
        '{"enabledPlugins": {"phaselock@phaselock": false}}',
      )
      expect(doctor()).toMatch(/claude.*no binding/)
    },
    200_000,
  )
})
