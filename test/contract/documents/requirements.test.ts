import { describe, expect, it } from 'vitest'
import { DOCUMENT_CODES } from '../../../src/contract/documents/codes.js'
import { loadContractText } from '../../../src/contract/load/load-contract.js'
import { ACCEPTED, REFUSED } from './cases.js'
import { understood } from './phase.js'

describe('what a phase document demands', () => {
  it.each(REFUSED)('[REQ-DOC-1] refused: $name', async ({ text, head, problems }) => {
    expect(await understood(text, head)).toEqual({ fields: [], problems })
  })

  it.each(ACCEPTED)('[REQ-DOC-2] understood: $name', async ({ text, head, fields, problems }) => {
    expect(await understood(text, head)).toEqual({ fields: [...fields].sort(), problems: problems ?? [] })
  })

  it.each([
    ['Required: `a_count` at least 3', "'a_count' was read from a sentence as integer, at least 3."],
    [
      'Required: `a_count` more than 3',
      "'a_count' was read from a sentence as integer; 'more than 3' is not a rule here.",
    ],
    ['Required: `a_count` >= 3', "'a_count' was read from a sentence as integer; '>= 3' is not a rule here."],
    [
      'Required: `a_list`, a minimum of 3',
      "'a_list' was read from a sentence as array; 'minimum of 3' is not a rule here.",
    ],
    ['Evidence: `note` (optional)', "'note' was read from a sentence as string, optional."],
  ])('[REQ-DOC-2] %s: the warning tells what was read and what was not', async (text, message) => {
    const loaded = await loadContractText(`## Phase 1: One\n\n${text}\n`, { file: 'flow.md', baseDir: null })
    expect(loaded.ok ? loaded.warnings.map((one) => one.message) : loaded.diagnostics).toEqual([message])
  })

  it.each([
    ['- `a` (string, min_length_x)', "a: 'min_length_x' is not a known rule."],
    ['- `a` (string, min length 1)', "a: 'min length 1' is not a known rule."],
    ['- `a` (string, max_length_9)', "a: 'max_length_9' is not a known rule."],
    ['- `a` (string, not_empty)', "a: 'not_empty' is not a known rule."],
    ['- `a` (integer, required_always)', "a: 'required_always' is not a known rule."],
    ['- `a` (integer, at least 1, min_length_1)', "a: A field of type integer takes no rule 'min_length_1'."],
  ])('[REQ-DOC-1] %s: the message names the whole rule', async (item, message) => {
    const text = `## Phase 1: One\n\n### Checkpoint\n\n${item}\n`
    const loaded = await loadContractText(text, { file: 'flow.md', baseDir: null })
    expect(loaded.ok ? [] : loaded.diagnostics.map((one) => one.message)).toEqual([message])
  })

  it('[REQ-DOC-2] a warning says what was read from the words of an item and what was not', async () => {
    const text = '## Phase 1: One\n\n### Checkpoint\n\n- `a`: number, greater than 0 and less than 9\n'
    const loaded = await loadContractText(text, { file: 'flow.md', baseDir: null })
    expect(loaded.ok ? loaded.warnings.map((one) => one.message) : loaded.diagnostics).toEqual([
      "The type of 'a' was taken from its words: integer, greater than 0; 'less than 9' is not a rule here.",
    ])
  })

  it('[REQ-DOC-1] every code of documents has a case', () => {
    const seen = new Set(
      [...REFUSED, ...ACCEPTED].flatMap(({ problems }) => problems ?? []).map((one) => one.split('@')[0]),
    )
    expect(Object.keys(DOCUMENT_CODES).filter((code) => !seen.has(code))).toEqual([])
  })
})
