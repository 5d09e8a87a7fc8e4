import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { RECIPES } from '../../src/participants/agent-cli/agent-cli-recipes.js'
import { COMMAND_LIMITS } from '../../src/participants/agent-cli/command-participant.js'
import { ROOT } from '../cli/program.js'
import { CLAUDE_VERSION, CODEX_VERSION, GEMINI_VERSION, OPENCODE_VERSION } from '../participants/real-agents.js'

const page = readFileSync(join(ROOT, 'docs/coordination-agents.md'), 'utf8')

/** The cells of the rows whose first one is this name, in the order of the tables. */
function rowsOf(name: string): readonly (readonly string[])[] {
  return page
    .split('\n')
    .filter((line) => line.startsWith(`| \`${name}\` |`))
    .map((line) => line.split('|').map((cell) => cell.trim()))
}

describe('the page about agent programs', () => {
  it.each(Object.entries(RECIPES))(
    '[REQ-AGENTCLI-1] says which variables pass to %s, and its program',
    (name, recipe) => {
      const [, , program, passes] = rowsOf(name)[0] ?? []
      expect(program).toBe(recipe.program === null ? '' : `\`${recipe.program}\``)
      expect(passes?.split(', ')).toEqual(recipe.passes.map((one) => `\`${one}\``))
    },
  )

  it('[REQ-AGENTCLI-8] says which versions were tried', () => {
    const tried = ['claude-code', 'codex', 'gemini', 'opencode'].map((name) => rowsOf(name)[1]?.[2])
    expect(tried).toEqual([CLAUDE_VERSION, CODEX_VERSION, GEMINI_VERSION, OPENCODE_VERSION])
  })

  it('[REQ-AGENTCLI-6] says the limits as they are', () => {
    const { gatherMs, graceMs, lifeMs, outputBytesMax, lineCharsMax } = COMMAND_LIMITS
    expect(page).toContain(`within ${gatherMs} ms`)
    expect(page).toContain(`has ${graceMs / 1000} seconds to end`)
    expect([lifeMs, outputBytesMax, lineCharsMax]).toEqual([3_600_000, 64 * 2 ** 20, 4 * 2 ** 20])
  })
})
