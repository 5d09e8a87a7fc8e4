import { describe, expect, it } from 'vitest'
import { loadContractText } from '../../src/contract/load/load-contract.js'

const COMMANDS = 'commands: {tests: {run: npm test}}\n'
const phase = (lines: string) => `name: t\nversion: "1"\nphases:\n  - id: A\n    ${lines}\n`
const field = (about: string, name = 'f') => phase(`checkpoint: {evidence: {${name}: {${about}}}}`)

async function errorsOf(text: string): Promise<readonly string[]> {
  const loaded = await loadContractText(text, { file: 'a.yaml', baseDir: null })
  return loaded.ok ? [] : loaded.diagnostics.filter((one) => one.severity === 'error').map((one) => one.message)
}

describe('grades that could never be reached', () => {
  it.each([
    ['a file that is named by a number', field('type: integer, grade: artifact'), /a file is named by a string/],
    [
      'an observed field without a command',
      field('type: integer, grade: observed', 'tests_passed'),
      /no command fills/,
    ],
    [
      'a member that runs do not have',
      field('type: integer, grade: observed', 'tests_speed') + COMMANDS,
      /no command fills/,
    ],
    ['a member of another type', field('type: string, grade: observed', 'tests_passed') + COMMANDS, /no command fills/],
    [
      'more than there are graded fields',
      phase('min_verified: 2\n    checkpoint: {evidence: {f: {type: string, grade: artifact}}}'),
      /min_verified is 2, and 1/,
    ],
  ])('[REQ-EVIDENCE-10] %s is an error at load', async (_name, text, message) => {
    expect(await errorsOf(text)).toEqual([expect.stringMatching(message)])
  })

  it.each([
    ['a file', field('type: string, grade: artifact')],
    ['files', field('type: array, grade: artifact')],
    ['what a command tells', field('type: integer, grade: observed', 'tests_passed') + COMMANDS],
  ])('[REQ-EVIDENCE-10] %s loads', async (_name, text) => {
    expect(await errorsOf(text)).toEqual([])
  })
})
