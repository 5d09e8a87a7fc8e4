import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installed } from './packages.js'
import { MARK, type ScriptedModel } from './scripted-model.js'

export const VERSION = '2.1.325'
export const RUN_MS_MAX = 300_000

/** The program, where npm can install it. */
export function claude():
  | { readonly ok: true; readonly program: string }
  | { readonly ok: false; readonly reason: string } {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return { ok: false, reason: 'the build of Claude Code that is tried here is for Linux on x64' }
  const found = installed('claude', [`@anthropic-ai/claude-code-linux-x64@${VERSION}`])
  if (!found.ok) return found
  return { ok: true, program: join(found.dir, 'node_modules/@anthropic-ai/claude-code-linux-x64/claude') }
}

export interface ClaudeRun {
  readonly program: string
  readonly home: string
  /** Where it works; a folder of its own without one. */
  readonly work?: string
  readonly model: ScriptedModel
  /** The MCP server named phaselock. */
  readonly entry: Record<string, unknown>
  /** Tools of its own; none without them. */
  readonly tools?: string
  readonly settings?: Record<string, unknown>
  readonly environment?: Record<string, string>
}

/** Runs Claude Code without a terminal, with a model that follows the script. */
export async function runClaude(run: ClaudeRun): Promise<string> {
  const { program, home, model, entry } = run
  const work = run.work ?? join(home, 'work')
  mkdirSync(work, { recursive: true })
  writeFileSync(join(home, 'mcp.json'), JSON.stringify({ mcpServers: { phaselock: entry } }))
  const args = [
    ...['-p', `${MARK} Do the task.`, '--output-format', 'json', '--tools', run.tools ?? '', '--setting-sources', ''],
    ...['--strict-mcp-config', '--mcp-config', join(home, 'mcp.json'), '--dangerously-skip-permissions'],
  ]
  if (run.settings !== undefined) {
    writeFileSync(join(home, 'settings.json'), JSON.stringify(run.settings))
    args.push('--settings', join(home, 'settings.json'))
  }
  const child = spawn(program, args, {
    cwd: work,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: RUN_MS_MAX,
    env: {
      ...{
        PATH: process.env.PATH,
        HOME: home,
        TMPDIR: home,
        CLAUDE_CONFIG_DIR: join(home, '.claude'),
        LANG: 'C.UTF-8',
      },
      ...{ ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'test', CLAUDE_CODE_MAX_RETRIES: '1' },
      ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1', DISABLE_TELEMETRY: '1' },
      // Without the first, tools of MCP servers hide behind a search; without the second, root is turned away.
      ...{ DISABLE_ERROR_REPORTING: '1', ENABLE_TOOL_SEARCH: 'false', IS_SANDBOX: '1' },
      ...run.environment,
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  await once(child, 'close')
  return output
}
