import { describe, expect, it } from 'vitest'
import { findSettingsProblem } from '../../src/core/paths/agent-cli-files.js'

const text = (value: unknown): string => JSON.stringify(value)
const BOUND = {
  hooks: { PreToolUse: [{ matcher: '*', hooks: [{ type: 'http', url: 'http://localhost:8000' }] }] },
  enabledMcpjsonServers: ['phaselock'],
  permissions: { allow: ['mcp__phaselock'], deny: ['WebFetch'] },
}

describe('a change of the settings that Claude Code keeps in a work tree', () => {
  it.each<[string, unknown, string]>([
    ['switches all hooks off', { ...BOUND, disableAllHooks: true }, 'changes "disableAllHooks"'],
    ['removes the hooks', { ...BOUND, hooks: undefined }, 'changes "hooks"'],
    ['changes a hook', { ...BOUND, hooks: { PreToolUse: [] } }, 'changes "hooks"'],
    ['removes the MCP server', { ...BOUND, enabledMcpjsonServers: [] }, 'changes "enabledMcpjsonServers"'],
    ['disables the MCP server', { ...BOUND, disabledMcpjsonServers: ['phaselock'] }, '"disabledMcpjsonServers"'],
    ['takes a permission away', { ...BOUND, permissions: { allow: [], deny: ['WebFetch'] } }, '"permissions.allow"'],
    [
      'denies a tool',
      { ...BOUND, permissions: { ...BOUND.permissions, deny: ['mcp__phaselock'] } },
      'permissions.deny',
    ],
    ['drops what was denied', { ...BOUND, permissions: { allow: ['mcp__phaselock'] } }, 'permissions.deny'],
    ['sets a mode', { ...BOUND, permissions: { ...BOUND.permissions, defaultMode: 'x' } }, 'permissions.defaultMode'],
    ['changes the environment', { ...BOUND, env: { CLAUDE_CODE_SIMPLE: '1' } }, 'changes "env"'],
    [
      'has entries that are no texts',
      { ...BOUND, permissions: { ...BOUND.permissions, allow: ['mcp__phaselock', 7] } },
      'allow',
    ],
    ['has permissions of another kind', { ...BOUND, permissions: ['allow'] }, 'changes permissions'],
    ['is a list', [BOUND], 'is not a JSON object'],
  ])('[REQ-CLIFILES-1] that %s is named', (_name, after, problem) => {
    expect(findSettingsProblem(text(BOUND), text(after))).toContain(problem)
  })

  it('[REQ-CLIFILES-1] that deletes the settings or makes them unreadable is named', () => {
    expect(findSettingsProblem(text(BOUND), null)).toContain('"hooks"')
    for (const after of ['', '{', '{"permissions": {}} // x', 'null', '"x"'])
      expect(findSettingsProblem(text(BOUND), after), after).toBe('is not a JSON object')
    expect(findSettingsProblem('{', text(BOUND))).toBe('is not a JSON object')
    expect(findSettingsProblem(null, '{"__proto__": {"disableAllHooks": true}}')).toContain('__proto__')
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`${at}${'x'.repeat(1000)}`, at]))
    expect((findSettingsProblem(null, text(many)) ?? '').length).toBeLessThan(500)
  })

  it('[REQ-CLIFILES-2] that only adds permissions to run without asking is harmless', () => {
    const more = { ...BOUND, permissions: { ...BOUND.permissions, allow: ['Bash(npm test:*)', 'mcp__phaselock'] } }
    expect(findSettingsProblem(text(BOUND), text(more))).toBeNull()
    expect(findSettingsProblem(null, text({ permissions: { allow: ['mcp__phaselock__next'] } }))).toBeNull()
    expect(findSettingsProblem(text({}), text({ permissions: { allow: [] } }))).toBeNull()
  })
})
