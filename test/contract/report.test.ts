import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { explainContract, explainJson } from '../../src/contract/explain.js'
import {
  formatGithub,
  formatJson,
  formatLines,
  formatSarif,
  formatText,
} from '../../src/contract/format-diagnostics.js'
import { toDot, toMermaid, toSvg } from '../../src/contract/graph.js'
import { loadContractText } from '../../src/contract/load/load-contract.js'
import { HEAD, mustLoad } from './load.js'

async function diagnosticsOf(text: string, file = 'flows/a b.yaml') {
  const result = await loadContractText(text, { file, baseDir: null })
  if (result.ok) throw new Error('it loaded')
  return result.diagnostics
}

const BAD = `${HEAD}phases:\n  - id: A\n    rules: [{token_budget: {max_tokens: 0}}]\n    consensus: {agents: [a], question: ok}\nagents: {a: {harness: codex, env: {X: y}}}\n`

describe('diagnostics', () => {
  it('[REQ-CONTRACT-22] text has one line for the place and one for the remedy', async () => {
    const later = (await diagnosticsOf(BAD)).filter((one) => one.code === 'contract.not_enforced_yet')
    expect(formatText(later)).toBe(
      'flows/a b.yaml:7:1: warning contract.not_enforced_yet: agents: This version reads env of agents that vote but does not enforce it.\n    Remove it to create tasks under this contract with this version.\n',
    )
    expect(formatText(await diagnosticsOf(BAD))).toContain(
      "flows/a b.yaml:5:41: error contract.invalid_rule_threshold: phases[0].rules[0].token_budget.max_tokens: The field 'max_tokens' is 0, not a positive integer.",
    )
  })

  it('[REQ-CONTRACT-22] every form of a report names the path of the field', async () => {
    const found = await diagnosticsOf(`${HEAD}phases:\n  - id: A\n    alowed_tools: []\n`)
    const path = 'phases[0].alowed_tools'
    expect(formatText(found)).toContain(`: error contract.unknown_key: ${path}: `)
    expect(formatLines(found)).toContain(`: error contract.unknown_key: ${path}: `)
    expect(formatGithub(found)).toContain(`::${path}: `)
    expect(formatJson(found)).toMatchObject({ diagnostics: [{ path }] })
    expect(formatSarif(found, '0.1.0')).toMatchObject({
      runs: [{ results: [{ locations: [{ logicalLocations: [{ fullyQualifiedName: path }] }] }] }],
    })
  })

  it('[REQ-CONTRACT-22] what is about the whole file names no field', async () => {
    const [empty] = await diagnosticsOf('')
    expect(formatText(empty === undefined ? [] : [empty])).toMatch(/^flows\/a b.yaml:1:1: error contract.empty: [A-Z]/)
    expect(JSON.stringify(formatSarif(empty === undefined ? [] : [empty], '1'))).not.toContain('logicalLocations')
  })

  it('[REQ-CONTRACT-22] control characters of the file do not reach the terminal', async () => {
    const text = formatText(await diagnosticsOf(`${HEAD}phases:\n  - id: "A\\e[31m\\u202E"\n`))
    expect(text).not.toMatch(/[^\P{Cc}\n]|\u202E/u)
    expect(text).toContain('\\u001b')
  })

  it('[REQ-CONTRACT-22] JSON counts errors and warnings', async () => {
    expect(formatJson(await diagnosticsOf(BAD))).toMatchObject({ errors: 1, warnings: 1 })
  })

  it('[REQ-CONTRACT-22] SARIF names rule, level and region', async () => {
    const sarif = formatSarif(await diagnosticsOf(BAD), '0.1.0')
    expect(sarif).toMatchObject({
      version: '2.1.0',
      runs: [
        {
          tool: {
            driver: {
              name: 'phaselock',
              rules: [{ id: 'contract.invalid_rule_threshold' }, { id: 'contract.not_enforced_yet' }],
            },
          },
          results: [
            {
              ruleId: 'contract.invalid_rule_threshold',
              ruleIndex: 0,
              level: 'error',
              locations: [
                {
                  physicalLocation: {
                    artifactLocation: { uri: 'flows/a%20b.yaml' },
                    region: { startLine: 5, startColumn: 41 },
                  },
                },
              ],
              properties: { kind: 'InvalidRuleThreshold', rule_id: 'A[0]', value: 0 },
            },
            { level: 'warning' },
          ],
        },
      ],
    })
  })
})

const TDD = readFileSync(new URL('../../contracts/tdd.yaml', import.meta.url), 'utf8')
const EVERYTHING = readFileSync(new URL('../cases/everything.yaml', import.meta.url), 'utf8')
const lineOf = (text: string, part: string): number => text.slice(0, text.indexOf(part)).split('\n').length

describe('explain', () => {
  it('[REQ-CONTRACT-23] phases, gates, blockers and transitions are printed with their lines', async () => {
    const text = explainContract(await mustLoad(TDD))
    expect(text).toContain(`Phase TDD "Write failing tests"  (agent_workflow.yaml:${lineOf(TDD, 'id: TDD')})`)
    expect(text).toContain(
      `gate plan_approval: approval by 1 of human within 1d, after that the task is parked  (agent_workflow.yaml:${lineOf(TDD, 'id: plan_approval')})`,
    )
    expect(text).toContain(
      `blocking all_tests_pass: All tests must pass  (agent_workflow.yaml:${lineOf(TDD, 'check: all_tests_pass')})`,
    )
    expect(text).toContain(
      `REVIEW -> IMPL when changes_requested, open as soon as the agent says so  (agent_workflow.yaml:${lineOf(TDD, 'when: changes_requested')})`,
    )
    expect(text).not.toContain('Not enforced')
  })

  it('[REQ-CONTRACT-23] evidence fields are printed with their bounds, lines and what is not enforced', async () => {
    const text = explainContract(await mustLoad(EVERYTHING))
    expect(text).toContain(
      `evidence count: integer {"max":9,"min":1}: How many  (agent_workflow.yaml:${lineOf(EVERYTHING, 'count: {type')})`.replace(
        '{"max":9,"min":1}',
        '{"min":1,"max":9}',
      ),
    )
    expect(text).toContain('agents: env of agents that vote')
  })

  it('[REQ-CONTRACT-23] voting reviewers are printed with the question and the transition that they block', async () => {
    const consensus = 'consensus: {agents: [a, b], question: Ready?, quorum: 2}'
    const text = explainContract(
      await mustLoad(`name: t\nversion: "1"\nphases:\n  - id: A\n    ${consensus}\n  - {id: B}\n`),
    )
    expect(text).toContain('consensus: a, b vote, at least 2 for the winner: Ready?  (agent_workflow.yaml:5)')
    expect(text).toContain('A -> B, held by consensus')
  })

  it('[REQ-PROTECT-3] protected and pinned paths that a phase opens are printed', async () => {
    const checked =
      'gates: [{id: g, type: validation, blockers: [{check: command_succeeds, run: ./check.sh, message: x}]}]'
    const opened = 'allowed_tools: [write_files], writable: ["**", check.sh, "**/AGENTS.md"]'
    const text = explainContract(
      await mustLoad(`name: t\nversion: "1"\nphases:\n  - {id: A, ${opened}, ${checked}}\n  - {id: B}\n`),
    )
    expect(text).toContain('  opens check.sh: pinned, decides what commands of gates do\n')
    expect(text).toContain('  opens **/AGENTS.md: protected, AGENTS.md steers agents\n')
    expect(text).not.toContain('opens **:')
  })

  it('[REQ-CONTRACT-23] the same can be had as JSON', async () => {
    expect(explainJson(await mustLoad(TDD))).toMatchObject({
      name: 'tdd',
      start: 'PLAN',
      phases: [{ id: 'PLAN', is_final: false }, {}, {}, {}, { id: 'COMPLETE', is_final: true }],
    })
  })
})

describe('graphs', () => {
  const HOSTILE = `${HEAD}phases:
  - {id: end, name: 'a"] --> b <script>&'}
  - {id: B.x, name: "second\\nline"}
transitions:
  - {from: end, to: B.x, when: 'x"|y<z'}
  - {from: end, to: end, when: again}
`
  it('[REQ-CONTRACT-24] Mermaid numbers the nodes and escapes the labels', async () => {
    expect(toMermaid((await mustLoad(HOSTILE)).contract)).toBe(
      [
        'flowchart TD',
        '  p0["end: a#34;#93; --#62; b #60;script#62;#38;"]',
        '  p1(["B.x: second#10;line"])',
        '  p0 -->|"when x#34;#124;y#60;z"| p1',
        '  p0 -->|"when again"| p0',
        '',
      ].join('\n'),
    )
  })

  it('[REQ-CONTRACT-24] DOT quotes every name', async () => {
    const dot = toDot((await mustLoad(HOSTILE)).contract)
    expect(dot).toContain('"end" [label="end\\na\\"] --> b <script>&"];')
    expect(dot).toContain('"end" -> "B.x" [label="when x\\"|y<z", style=dashed];')
  })

  it('[REQ-CONTRACT-24] SVG holds every phase and no markup of the contract', async () => {
    const svg = toSvg((await mustLoad(HOSTILE)).contract)
    expect(svg).not.toContain('<script')
    expect(svg).toContain('&lt;script&gt;&amp;')
    expect(svg.match(/<rect /g)).toHaveLength(2)
    expect(svg.match(/marker-end/g)).toHaveLength(2)
  })
})
