import { describe, expect, it } from 'vitest'
import { CLAUDE_CODE_CONNECTION } from '../../src/cli/connect/claude-code.js'
import { CODEX_CONNECTION } from '../../src/cli/connect/codex.js'
import { type ConfigEntry, ConfigProblem } from '../../src/cli/connect/config-entry.js'
import { addEntries, removeEntries } from '../../src/cli/connect/config-file.js'
import type { ConnectKind } from '../../src/cli/connect/connect-kind.js'
import { CONNECT_KINDS } from '../../src/cli/connect/connect-kinds.js'
import { addJsonEntries, readJsonConfig, removeJsonEntries } from '../../src/cli/connect/edit-json.js'
import { addTomlEntries, readTomlConfig, removeTomlEntries } from '../../src/cli/connect/edit-toml.js'
import { GEMINI_CONNECTION } from '../../src/cli/connect/gemini.js'
import { OPENCODE_CONNECTION } from '../../src/cli/connect/opencode.js'

const PLACE = { workspace: '/w', program: 'phaselock', mode: 'tools-only', isManaged: false } as const
const NATIVE = { ...PLACE, mode: 'native' } as const

const ENTRIES: readonly ConfigEntry[] = [
  { kind: 'set', path: ['mcp', 'phaselock'], value: { command: ['phaselock'] } },
  { kind: 'add', path: ['hooks', 'Before'], items: [{ run: 'phaselock hook' }], mark: 'phaselock hook' },
  { kind: 'add', path: ['deny'], items: ['Bash', 'Edit'], mark: null },
]

describe('entries in JSON', () => {
  it('[REQ-CONNECT-2] what is not a JSON object is refused, with the line', () => {
    for (const text of ['{', '[]', '"x"', 'null', '{\n "a": 1,\n b\n}', '{"a":1}}'])
      expect(() => addJsonEntries(text, ENTRIES), text).toThrow(ConfigProblem)
    expect(() => addJsonEntries('{\n  "a": \n}', ENTRIES)).toThrow(/line 3/)
  })

  it('[REQ-CONNECT-2] a list or an object where another kind of value is needed is refused', () => {
    expect(() => addJsonEntries('{"hooks": {"Before": {}}}', ENTRIES)).toThrow(/no list at hooks.Before/)
    expect(() => addJsonEntries('{"mcp": []}', ENTRIES)).toThrow(/no object at mcp/)
  })

  it('[REQ-CONNECT-2] comments are refused where the agent CLI would skip the whole file', () => {
    const [plan] = CLAUDE_CODE_CONNECTION.plan(PLACE)
    if (plan === undefined) throw new Error('no plan')
    for (const text of ['{ // c\n}', '{"a": [1,],}'])
      expect(() => addEntries(plan, text), text).toThrow(/comments or trailing commas/)
    expect(addEntries({ ...plan, format: 'jsonc' }, '{ // c\n}')).toContain('// c')
  })

  it('[REQ-CONNECT-1] comments, order and other entries stay, and adding twice changes nothing', () => {
    const text = '{\n\t// ours\n\t"z": 1, "a": 2,\n\t"deny": ["Bash"], // careful\n\t"mcp": {"other": 1}\n}\n'
    const added = addJsonEntries(text, ENTRIES)
    for (const kept of ['// ours', '// careful', '"other": 1', '"z": 1, "a": 2']) expect(added).toContain(kept)
    expect(readJsonConfig(added)).toEqual({
      deny: ['Bash', 'Edit'],
      mcp: { other: 1, phaselock: { command: ['phaselock'] } },
      ...{ z: 1, a: 2, hooks: { Before: [{ run: 'phaselock hook' }] } },
    })
    expect(addJsonEntries(added, ENTRIES)).toBe(added)
  })

  it('[REQ-CONNECT-3] only our entries are removed from a file that somebody changed', () => {
    const before = '{\n  "deny": ["Bash"],\n  "hooks": {"After": []}\n}\n'
    const added = addJsonEntries(before, ENTRIES)
    const changed = added
      .replace('"phaselock hook"', '"phaselock hook", "ms": 5')
      .replace('{\n', '{\n  // mine\n  "new": true,\n')
    const left = removeJsonEntries(changed, ENTRIES, before)
    expect(left).toContain('// mine')
    expect(readJsonConfig(left ?? '')).toEqual({ new: true, deny: ['Bash'], hooks: { After: [] } })
  })

  it('[REQ-CONNECT-3] a value that ours replaced comes back', () => {
    const before = '{"mcp": {"phaselock": {"command": ["mine"]}}}'
    const left = removeJsonEntries(`${addJsonEntries(before, ENTRIES)}\n`, ENTRIES, before)
    expect(readJsonConfig(left ?? '')).toEqual(JSON.parse(before))
  })

  it('[REQ-CONNECT-3] without a record a list of names stays, because it may be the team’s', () => {
    const added = addJsonEntries(null, ENTRIES)
    expect(readJsonConfig(removeJsonEntries(added, ENTRIES, undefined) ?? '')).toEqual({ deny: ['Bash', 'Edit'] })
    expect(removeJsonEntries(added, ENTRIES, null)).toBeNull()
  })
})

const TOML =
  '# mine\nmodel = "x" # keep\n\n[features] # f\na = true\n# end\n\n[mcp_servers.other]\ncommand = "false"   # odd\n'
const CODEX = CODEX_CONNECTION.plan(PLACE)[0]?.entries ?? []

describe('entries in TOML', () => {
  it('[REQ-CONNECT-2] what is not TOML, or has one of our keys, or an odd form, is refused', () => {
    for (const text of ['x', '[features\n', 'a = 1\na = 2\n'])
      expect(() => addTomlEntries(text, CODEX), text).toThrow(/not valid TOML/)
    for (const text of ['sandbox_mode = "danger-full-access"\n', '[features]\nshell_tool = true\n'])
      expect(() => addTomlEntries(text, CODEX), text).toThrow(/already; remove it first/)
    for (const text of [
      'features = { a = true }\n',
      'features.a = true\n',
      't = """\n[features]\n"""\nfeatures = {}\n',
    ])
      expect(() => addTomlEntries(text, CODEX), text).toThrow(ConfigProblem)
  })

  it('[REQ-CONNECT-1] everything else stays to the byte, and removing gives the same bytes', () => {
    const added = addTomlEntries(TOML, CODEX)
    expect(readTomlConfig(added)).toMatchObject({
      ...{ model: 'x', sandbox_mode: 'read-only', features: { a: true, shell_tool: false } },
      mcp_servers: { other: { command: 'false' }, phaselock: { command: 'phaselock' } },
    })
    expect(addTomlEntries(added, CODEX)).toBe(added)
    expect(removeTomlEntries(added)).toBe(TOML)
    expect(removeTomlEntries(added.replace('# end', '# end\nb = 1 # new'))).toBe(
      TOML.replace('# end', '# end\nb = 1 # new'),
    )
    expect(removeTomlEntries(addTomlEntries(null, CODEX))).toBeNull()
  })
})

describe('what is written', () => {
  it('[REQ-CONNECT-1] no entry of any agent CLI contains a token, a secret or an address', () => {
    for (const kind of CONNECT_KINDS)
      for (const mode of kind.modes) {
        const plans = kind.plan({ ...PLACE, mode })
        for (const plan of plans) {
          const text = addEntries(plan, null)
          expect(text).not.toMatch(/pl(op|ag)_|eyJ|Bearer|TOKEN|https?:\/\/(?!opencode\.ai\/config\.json)/)
          expect(removeEntries(plan, text, null)).toBeNull()
        }
      }
  })

  it('[REQ-CONNECT-4] the hook of Claude Code lets only Phaselock’s tools and notes pass, and what it runs always refuses', () => {
    const [settings] = CLAUDE_CODE_CONNECTION.plan(PLACE)
    const value = readJsonConfig(addEntries(settings ?? failPlan(), null)) as {
      hooks: { PreToolUse: { matcher: string; hooks: { command: string; onFailure: string }[] }[] }
    }
    const [group] = value.hooks.PreToolUse
    const matcher = new RegExp(group?.matcher ?? '')
    for (const tool of ['Bash', 'Write', 'Read', 'mcp__other__x', 'mcp__phaselock2__x', 'Monitor', 'New', 'xTodoWrite'])
      expect(matcher.test(tool), tool).toBe(true)
    for (const tool of ['mcp__phaselock__claim_task', 'mcp__phaselock__begin_task', 'TodoWrite', 'ToolSearch'])
      expect(matcher.test(tool), tool).toBe(false)
    expect(group?.hooks).toMatchObject([{ command: expect.stringMatching(/exit 2$/), onFailure: 'block' }])
  })

  it('[REQ-CONNECT-4] with its own tools, hooks of all events ask; only calls and settings fail closed', () => {
    const [settings] = CLAUDE_CODE_CONNECTION.plan(NATIVE)
    const { hooks } = readJsonConfig(addEntries(settings ?? failPlan(), null)) as {
      hooks: Record<string, { hooks: { command: string; onFailure?: string }[] }[]>
    }
    expect(Object.keys(hooks)).toHaveLength(11)
    const closed = Object.entries(hooks).filter(([, [group]]) => group?.hooks[0]?.onFailure === 'block')
    expect(closed.map(([event]) => event)).toEqual(['PreToolUse', 'ConfigChange'])
  })

  it('[REQ-CONNECT-4] Gemini CLI and OpenCode let only Phaselock’s tools pass', () => {
    const read = (kind: ConnectKind) => readJsonConfig(addEntries(kind.plan(PLACE)[0] ?? failPlan(), null))
    const { hooks } = read(GEMINI_CONNECTION) as {
      hooks: { BeforeTool: { matcher: string; hooks: { command: string }[] }[] }
    }
    const [group] = hooks.BeforeTool
    const matcher = new RegExp(group?.matcher ?? '')
    for (const tool of ['run_shell_command', 'new_tool', 'mcp_other_x']) expect(matcher.test(tool), tool).toBe(true)
    expect(matcher.test('mcp_phaselock_claim_task')).toBe(false)
    expect(group?.hooks[0]?.command).toMatch(/exit 2$/)
    expect(read(OPENCODE_CONNECTION)).toMatchObject({ permission: { '*': 'deny', 'phaselock_*': 'allow' } })
  })
})

function failPlan(): never {
  throw new Error('there is no plan')
}
