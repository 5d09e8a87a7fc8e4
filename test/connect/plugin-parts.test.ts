import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PluginHooks } from '../../src/cli/connected/plugin-hooks.js'
import { CLAUDE_CODE } from '../../src/cli/launch/claude-code.js'
import { ROOT } from '../cli/program.js'

const PLUGIN = join(ROOT, 'claude-plugin')
let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'phaselock-plugin-'))
  mkdirSync(join(dir, 'repository/.git'), { recursive: true })
  mkdirSync(join(dir, 'repository/src/deep'), { recursive: true })
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const contract = (folder: string) => writeFileSync(join(dir, folder, 'agent_workflow.yaml'), '')
function refuse(project: string | null) {
  const env = project === null ? {} : { CLAUDE_PROJECT_DIR: join(dir, project) }
  return spawnSync('sh', [join(PLUGIN, 'hooks/refuse-own-tool.sh')], { env, input: '{}', encoding: 'utf8' })
}
const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))

describe('the hook of the plugin for own tools', () => {
  it('[REQ-CONNECT-10] refuses in a repository with a contract, also in a folder below its root', () => {
    contract('repository')
    for (const folder of ['repository', 'repository/src/deep'])
      expect(refuse(folder)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('Phaselock: this tool is off'),
      })
  })

  it('[REQ-CONNECT-10] refuses where Claude Code does not say which folder it is in', () => {
    expect(refuse(null).status).toBe(2)
  })

  it('[REQ-CONNECT-10] lets tools run where the repository has no contract, whatever is above it', () => {
    contract('.')
    expect(refuse('repository/src')).toMatchObject({ status: 0, stdout: '', stderr: '' })
  })

  it('[REQ-CONNECT-10] is asked about every tool but those of Phaselock and notes, and fails closed', () => {
    const [others, own] = read('claude-plugin/hooks/hooks.json').hooks.PreToolUse
    const matches = (name: string) => new RegExp(others.matcher).test(name)
    for (const name of ['Bash', 'Write', 'Read', 'mcp__other__run', 'mcp__phaselock__next', 'TodoWriteX', 'NewTool'])
      expect(matches(name), name).toBe(true)
    for (const name of ['mcp__plugin_phaselock_phaselock__claim_task', 'TodoWrite', 'AskUserQuestion'])
      expect(matches(name), name).toBe(false)
    for (const { hooks } of [others, own]) expect(hooks[0]).toMatchObject({ onFailure: 'block' })
  })
})

describe('a session that the plugin binds', () => {
  const { native } = CLAUDE_CODE
  const hooks = () => new PluginHooks((native as Extract<typeof native, { kind: 'held' }>).answers)
  const about = (tool: string) => ({ hook_event_name: 'PreToolUse', tool_name: tool, tool_use_id: 'u1', cwd: '/' })
  const params = { _meta: { 'claudecode/toolUseId': 'u1' } }
  const decide = async (session: PluginHooks, tool: string) => {
    const said = (await session.answer(about(tool))) as { hookSpecificOutput?: { permissionDecision?: string } }
    return said.hookSpecificOutput?.permissionDecision
  }

  it('[REQ-CONNECT-10] refuses a call of Phaselock that no hook reported', async () => {
    const session = hooks()
    expect(session.findProblem(params)).toContain('enforcement_not_live')
    expect(await decide(session, 'Bash')).toBe('deny')
    expect(session.findProblem(params)).toContain('enforcement_not_live')
  })

  it('[REQ-CONNECT-10] lets a call of Phaselock through that a hook reported', async () => {
    const session = hooks()
    expect(await decide(session, 'mcp__plugin_phaselock_phaselock__next')).toBe('allow')
    expect(session.findProblem(params)).toBeNull()
  })
})

it('the plugin has the version of the package, and is in the package', () => {
  const { version, files } = read('package.json')
  expect(read('claude-plugin/.claude-plugin/plugin.json').version).toBe(version)
  expect(files).toEqual(expect.arrayContaining(['.claude-plugin', 'claude-plugin']))
})
