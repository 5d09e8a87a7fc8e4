import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { built, ROOT } from '../cli/program.js'
import { makePlace, type Place, type Served, serve } from '../e2e/process.js'
import { makeRepository } from '../e2e/projects.js'
import * as CLIS from '../participants/real-agents.js'
import { type Model, openModel, type Script } from './model.js'
import type { Call } from './talk.js'
import { call, own } from './work.js'

const RUN_MS_MAX = 120_000
const CONTRACT = `
name: hooked
version: "1"
phases:
  - {id: PLAN, allowed_tools: [read_files]}
  - {id: CODE, allowed_tools: [read_files, bash]}
  - {id: DONE, allowed_tools: []}
transitions: [{from: PLAN, to: CODE}, {from: CODE, to: DONE}]
enforcement: {confinement: best_effort, reconcile: off}
`
beforeAll(built, RUN_MS_MAX)

/** What a session needs: where its hooks are, whom they ask, and who it is. */
interface Session {
  readonly program: string
  readonly home: string
  /** With `hook.sh`, `opencode.js`, `address` and `headers`. */
  readonly hooks: string
  readonly mcp: string
  readonly token: string
  readonly model: Model
}

interface Started {
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

const PROMPT = '[[script:hooked]] Do it'
const GO: Call = call('request_transition', { target_phase: 'CODE' })
const put = (home: string, path: string, text: string): void => {
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), text)
}

const AGENTS = [
  {
    ...{ name: `Codex ${CLIS.CODEX_VERSION}`, find: CLIS.codex, go: GO },
    shell: (cmd: string): Call => own('exec_command', { cmd }),
    start: ({ home, hooks, mcp, token, model }: Session): Started => {
      const hook = (more: string) => [
        { matcher: '.*', hooks: [{ type: 'command', command: `${hooks}/hook.sh codex${more}`, timeout: 30 }] },
      ]
      put(home, '.codex/hooks.json', JSON.stringify({ hooks: { PreToolUse: hook(''), PostToolUse: hook(' open') } }))
      const off = [
        'plugins',
        'apps',
        'remote_plugin',
        'plugin_discovery_prefetch',
        'plugin_sharing',
        'daemon_auto_start',
      ]
      const lines = [
        ...['model = "scripted-1"', 'model_provider = "endpoint"', 'check_for_update_on_startup = false'],
        ...['[features]', ...off.map((name) => `${name} = false`), '[analytics]', 'enabled = false'],
        ...['[model_providers.endpoint]', 'name = "endpoint"', `base_url = "${model.url}/v1"`],
        ...['env_key = "OPENAI_API_KEY"', 'wire_api = "responses"', 'supports_websockets = false'],
        ...['[mcp_servers.phaselock]', `url = "${mcp}"`, 'bearer_token_env_var = "SECRET"', 'required = true'],
      ]
      put(home, '.codex/config.toml', `${lines.join('\n')}\n`)
      const flags = [
        '--dangerously-bypass-approvals-and-sandbox',
        '--dangerously-bypass-hook-trust',
        '--skip-git-repo-check',
      ]
      return {
        args: ['exec', '--json', ...flags, PROMPT],
        env: { CODEX_HOME: join(home, '.codex'), OPENAI_API_KEY: 'k', SECRET: token },
      }
    },
  },
  {
    ...{ name: `Gemini CLI ${CLIS.GEMINI_VERSION}`, find: CLIS.gemini, go: GO },
    shell: (command: string): Call => own('run_shell_command', { command }),
    start: ({ home, hooks, mcp, token, model }: Session): Started => {
      const hook = (more: string) => [
        { matcher: '.*', hooks: [{ type: 'command', command: `${hooks}/hook.sh gemini${more}`, timeout: 30_000 }] },
      ]
      const settings = {
        ...{ privacy: { usageStatisticsEnabled: false }, security: { auth: { selectedType: 'gemini-api-key' } } },
        ...{ general: { enableAutoUpdate: false }, hooks: { BeforeTool: hook(''), AfterTool: hook(' open') } },
        mcpServers: { phaselock: { httpUrl: mcp, headers: { Authorization: `Bearer ${token}` }, trust: true } },
      }
      put(home, '.gemini/settings.json', JSON.stringify(settings))
      return {
        args: ['-p', PROMPT, '-o', 'json', '--skip-trust', '--approval-mode', 'yolo', '--model', 'scripted-1'],
        env: { GEMINI_API_KEY: 'k', GOOGLE_GEMINI_BASE_URL: model.url, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
      }
    },
  },
  {
    ...{
      name: `Copilot CLI ${CLIS.COPILOT_VERSION}`,
      find: CLIS.copilot,
      go: own('phaselock-request_transition', GO.input),
    },
    shell: (command: string): Call => own('bash', { command, description: 'x' }),
    start: ({ home, hooks, mcp, token, model }: Session): Started => {
      const hook = (more: string) => [{ type: 'command', bash: `${hooks}/hook.sh copilot${more}`, timeoutSec: 30 }]
      const events = { PreToolUse: hook(''), PostToolUse: hook(' open'), PostToolUseFailure: hook(' open') }
      put(home, '.copilot/hooks/phaselock.json', JSON.stringify({ version: 1, hooks: events }))
      const server = { type: 'http', url: mcp, headers: { Authorization: `Bearer ${token}` }, tools: ['*'] }
      const config = JSON.stringify({ mcpServers: { phaselock: server } })
      return {
        args: ['-p', PROMPT, '--allow-all-tools', '--no-auto-update', '--additional-mcp-config', config],
        env: {
          ...{ COPILOT_OFFLINE: 'true', COPILOT_PROVIDER_BASE_URL: `${model.url}/v1`, COPILOT_PROVIDER_API_KEY: 'k' },
          ...{ COPILOT_MODEL: 'gpt-4', COPILOT_ALLOW_ALL: 'true' },
        },
      }
    },
  },
  {
    ...{ name: `OpenCode ${CLIS.OPENCODE_VERSION}`, find: CLIS.opencode, go: GO },
    shell: (command: string): Call => own('bash', { command, description: 'x' }),
    start: ({ home, hooks, mcp, token, model }: Session): Started => {
      CLIS.placeOpencodePlugin(join(home, '.config/opencode'))
      const endpoint = {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: `${model.url}/v1`, apiKey: 'k' },
        models: { 'scripted-1': { tool_call: true } },
      }
      const config = {
        ...{ autoupdate: false, share: 'disabled', plugin: [`file://${hooks}/opencode.js`] },
        ...{ provider: { endpoint }, enabled_providers: ['endpoint'], model: 'endpoint/scripted-1' },
        mcp: { phaselock: { type: 'remote', url: mcp, oauth: false, headers: { Authorization: `Bearer ${token}` } } },
      }
      return {
        args: ['run', '--format', 'json', '--auto', PROMPT],
        env: {
          ...{ OPENCODE_CONFIG_CONTENT: JSON.stringify(config), OPENCODE_DISABLE_MODELS_FETCH: '1' },
          ...{ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
        },
      }
    },
  },
]

describe.each(AGENTS)('the hooks of $name', ({ find, shell, go, start }) => {
  async function runIn(place: Place, model: Model, server: Served, url: string): Promise<string> {
    const found = find()
    if (!found.ok) throw new Error(found.reason)
    const { body } = await server.call('POST', '/agents', server.operator, { agent_id: 'coder' })
    const token = String(body.agent_token)
    await server.call('POST', '/tasks/claim', token, { agent_id: 'coder', task_id: 'T' })
    const hooks = join(place.dir, 'hooks')
    cpSync(join(ROOT, 'runtime/agent-hooks'), hooks, { recursive: true })
    put(hooks, 'address', `${url}/api/v1\n`)
    put(hooks, 'headers', `Authorization: Bearer ${token}\n`)
    const home = join(place.dir, 'home')
    const session = { program: found.program, home, hooks, mcp: `http://127.0.0.1:${place.port}/mcp`, token, model }
    const { args, env } = start(session)
    return runToEnd([found.program, ...args], place.workspace, { ...env, HOME: home })
  }

  async function stage(
    script: Script,
  ): Promise<{ place: Place; model: Model; server: Served; close(): Promise<void> }> {
    const place = await makePlace()
    makeRepository(place.workspace, { 'README.md': 'x\n' })
    put(place.dir, 'hooked.yaml', CONTRACT)
    const model = await openModel({ hooked: script })
    const server = await serve(place, join(place.dir, 'hooked.yaml'))
    await server.call('POST', '/tasks', server.operator, { id: 'T', title: 'It', workspace: place.workspace })
    const close = async (): Promise<void> => {
      await server.stop()
      model.close()
      place.remove()
    }
    return { place, model, server, close }
  }

  it(
    '[REQ-HOOK-34] a call that the phase does not allow is not made; after the transition it is',
    async ({ skip }) => {
      const found = find()
      if (!found.ok) return skip(found.reason)
      const calls = [shell('echo x > early.txt'), go, shell('echo x > later.txt')]
      const { place, model, server, close } = await stage((talk) => calls[talk.step] ?? null)
      try {
        const output = await runIn(place, model, server, `http://127.0.0.1:${place.port}`)
        const has = (name: string): boolean => existsSync(join(place.workspace, name))
        const told = JSON.stringify(model.talks.at(-1)?.results)
        expect([has('early.txt'), has('later.txt')], `${output}\n${told}`).toEqual([false, true])
        expect(told).toContain('forbidden_tool')
        const { body } = await server.call('GET', '/tasks/T/timeline?limit=100', server.operator)
        const types = (body.events as { type: string }[]).map(({ type }) => type)
        expect(types.filter((type) => type === 'tool_denied')).toHaveLength(1)
        expect(types).toContain('phase_entered')
        expect(await server.call('GET', '/tasks/T', server.operator)).toMatchObject({ body: { phase: 'CODE' } })
      } finally {
        await close()
      }
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-HOOK-34] nothing runs while nobody answers the hooks',
    async ({ skip }) => {
      const found = find()
      if (!found.ok) return skip(found.reason)
      const calls = [shell('echo x > down.txt'), shell('echo x > down-too.txt')]
      const { place, model, server, close } = await stage((talk) => calls[talk.step] ?? null)
      try {
        const output = await runIn(place, model, server, 'http://127.0.0.1:9')
        const has = (name: string): boolean => existsSync(join(place.workspace, name))
        expect([has('down.txt'), has('down-too.txt')], output).toEqual([false, false])
        expect(model.talks.at(-1)?.results).toHaveLength(calls.length)
      } finally {
        await close()
      }
    },
    RUN_MS_MAX,
  )
})

function runToEnd(words: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const [program = '', ...args] = words
  mkdirSync(env.HOME ?? '', { recursive: true })
  const child = spawn(program, args, {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  const killing = setTimeout(() => child.kill('SIGKILL'), RUN_MS_MAX / 2)
  return new Promise((resolve) =>
    child.once('close', () => {
      clearTimeout(killing)
      resolve(output)
    }),
  )
}
