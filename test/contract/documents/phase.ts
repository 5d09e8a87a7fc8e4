import { loadContractText } from '../../../src/contract/load/load-contract.js'

/** What was understood of one phase's text: `name: type rules` for each field, `code@line` for each problem. */
export async function understood(body: string, head = ''): Promise<{ fields: string[]; problems: string[] }> {
  const text = `---\nname: t\nversion: "1"\n${head}---\n## Phase 1: One\n\n${body}\n`
  const offset = text.split('\n').indexOf('## Phase 1: One') + 2
  const loaded = await loadContractText(text, { file: 'flow.md', baseDir: null })
  const found = loaded.ok ? loaded.warnings : loaded.diagnostics
  const evidence = loaded.ok ? [...(loaded.contract.phases.get('1')?.evidence ?? [])] : []
  return {
    fields: evidence.map(([name, field]) => {
      const { type, min, max, minLength, pattern, mustBe, above, mayBeFalse, optional, grade } = field
      const parts: Record<string, unknown> = {
        min,
        max,
        minLength,
        pattern,
        enum: field.enum,
        mustBe,
        above,
        mayBeFalse,
      }
      const said = Object.entries(parts).flatMap(([key, value]) =>
        value === null || value === undefined ? [] : [`${key}=${JSON.stringify(value)}`],
      )
      if (optional) said.push('optional')
      if (grade !== undefined && grade !== 'reported') said.push(grade)
      return [`${name}: ${type}`, ...said].join(' ')
    }),
    problems: found.map((one) => `${one.code}@${one.line - offset}`),
  }
}
