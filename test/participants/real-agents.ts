import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installed } from '../mcp/packages.js'

export type Found = { readonly ok: true; readonly program: string } | { readonly ok: false; readonly reason: string }

export const CLAUDE_VERSION = '2.1.325'
export const CODEX_VERSION = '0.166.0'
export const GEMINI_VERSION = '0.61.0'
export const OPENCODE_VERSION = '1.18.33'
export const COPILOT_VERSION = '1.0.102'

/** The native programs: what npm puts before them would outlive them. */
export function claudeCode(): Found {
  return native('claude', `@anthropic-ai/claude-code-linux-x64@${CLAUDE_VERSION}`, [
    '@anthropic-ai/claude-code-linux-x64/claude',
  ])
}

export function codex(): Found {
  return native('codex', `@openai/codex@${CODEX_VERSION}-linux-x64`, [
    '@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex',
  ])
}

export function opencode(): Found {
  return native('opencode', `opencode-linux-x64@${OPENCODE_VERSION}`, ['opencode-linux-x64/bin/opencode'])
}

/**
 * Puts into the configuration folder of OpenCode what its first start would install from the registry: it installs this
 * package into each such folder, and a session that is killed before leaves it to the next one.
 */
export function placeOpencodePlugin(folder: string): void {
  const name = '@opencode-ai/plugin'
  const packages = installed('opencode-plugin', [`${name}@${OPENCODE_VERSION}`])
  if (!packages.ok) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies: { [name]: OPENCODE_VERSION } }))
  symlinkSync(join(packages.dir, 'node_modules'), join(folder, 'node_modules'))
}

export function copilot(): Found {
  return native('copilot', `@github/copilot-linux-x64@${COPILOT_VERSION}`, ['@github/copilot-linux-x64/copilot'])
}

export function gemini(): Found {
  const found = installed('gemini', [`@google/gemini-cli@${GEMINI_VERSION}`])
  return found.ok ? { ok: true, program: join(found.dir, 'node_modules/.bin/gemini') } : found
}

function native(name: string, from: string, [path = '']: readonly string[]): Found {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return { ok: false, reason: `the build of ${name} that is tried here is for Linux on x64` }
  const found = installed(name, [from])
  return found.ok ? { ok: true, program: join(found.dir, 'node_modules', path) } : found
}
