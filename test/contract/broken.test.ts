import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { CONTRACT_CODES } from '../../src/contract/diagnostic.js'
import { DOCUMENT_CODES } from '../../src/contract/documents/codes.js'
import { loadContractText } from '../../src/contract/load/load-contract.js'
import { BROKEN_CONTRACTS, type BrokenContract, marked, WARNED_CONTRACTS } from './broken-contracts.js'
import { formatErrors } from './format-schema.js'

async function found(broken: BrokenContract) {
  const { text, at } = marked(broken.text)
  const result = await loadContractText(text, { file: 'agent_workflow.yaml', baseDir: null })
  const all = result.ok ? result.warnings : result.diagnostics
  const places = all.map((d) => `${d.code} ${d.line}:${d.column} ${d.message}`)
  const hit = all.find((d) => d.code === broken.code && (at === null || `${d.line}:${d.column}` === at))
  expect(hit, `expected ${broken.code} at ${at}, found:\n${places.join('\n')}`).toBeDefined()
  return { result, hit: hit! }
}

describe('a contract that says what cannot be honoured does not load', () => {
  it.each(BROKEN_CONTRACTS)('[REQ-CONTRACT-3] [REQ-CONTRACT-4] $name is refused as $code', async (broken) => {
    const { result, hit } = await found(broken)
    expect(result.ok).toBe(false)
    expect(hit.severity).toBe('error')
    expect(hit.file).toBe('agent_workflow.yaml')
    expect(hit.remedy).not.toBe('')
    expect(hit.kind).toBe(broken.kind)
    if (broken.extra !== undefined) expect(hit.extra).toMatchObject(broken.extra)
    if (broken.says !== undefined) expect(`${hit.message} ${hit.remedy}`).toContain(broken.says)
  })

  it.each(WARNED_CONTRACTS)('[REQ-CONTRACT-9] $name loads with the warning $code', async (warned) => {
    const { result, hit } = await found(warned)
    expect(result.ok).toBe(true)
    expect(hit.severity).toBe('warning')
  })

  it.each(BROKEN_CONTRACTS.filter((broken) => broken.is_shape))(
    '[REQ-CONTRACT-2] the published JSON Schema refuses $name too',
    (broken) => {
      expect(formatErrors(parse(marked(broken.text).text, { logLevel: 'silent', uniqueKeys: false }))).not.toEqual([])
    },
  )

  it('[REQ-CONTRACT-4] every code that a contract can be refused with has a case', () => {
    const tested = new Set([...BROKEN_CONTRACTS, ...WARNED_CONTRACTS].map((broken) => broken.code))
    const elsewhere = ['contract.unreadable', 'contract.too_large', 'contract.not_utf8', 'contract.not_enforced_yet']
    // Those of contracts that extend others are in extended-contracts.yaml.
    elsewhere.push('contract.unknown_base', 'contract.extends_cycle', 'contract.unknown_tool_group')
    elsewhere.push('contract.gate_cannot_open', ...Object.keys(DOCUMENT_CODES))
    expect(Object.keys(CONTRACT_CODES).filter((code) => !tested.has(code) && !elsewhere.includes(code))).toEqual([])
  })

  it('[REQ-CONTRACT-5] all errors of a file are reported at once, in the order of the file', async () => {
    const text = [
      'name: t',
      'version: 1.0',
      'phases:',
      '  - id: A',
      '    allowed_tools: [read_file]',
      '    gates:',
      '      - {id: g, type: approval, approvers: []}',
      '    rules:',
      '      - token_budget: {max_tokens: 0}',
      '  - id: B',
      '    promt: x',
      'transitions:',
      '  - {from: A, to: B, gate: h}',
      'enforcement: {mode: lax}',
    ].join('\n')
    const result = await loadContractText(text, { file: 'f.yaml', baseDir: null })
    if (result.ok) throw new Error('it loaded')
    expect(result.diagnostics.filter((d) => d.severity === 'error').map((d) => `${d.line} ${d.code}`)).toEqual([
      '2 contract.wrong_type',
      '5 contract.unknown_tool',
      '7 contract.unused_gate',
      '7 contract.no_approver',
      '9 contract.invalid_rule_threshold',
      '11 contract.unknown_key',
      '13 contract.unknown_gate',
      '14 contract.unknown_mode',
    ])
  })
})
