import { describe, expect, it } from 'vitest'
import { formatPermissionLines, listDocumentChanges } from '../../src/cli/contracts/permission-text.js'
import { HEAD, mustLoad } from '../contract/load.js'

describe('what a contract asks for', () => {
  it('[REQ-TRUST-8] is shown whole where it goes beyond the sandbox, however much is asked for beside it', async () => {
    const many = Array.from({ length: 50 }, (_, index) => `a${index}: {run: "echo ${index}"}`).join(', ')
    const tools = Array.from(
      { length: 20 },
      (_, index) => `t${index}: {command: [curl, x], description: d, network: true}`,
    ).join(', ')
    const text = `${HEAD}phases: [{id: A}, {id: B}]\ncommands: {${many}}\ntools: {${tools}}\n`
    const lines = formatPermissionLines((await mustLoad(text)).contract)
    expect(lines.filter((line) => line.includes('any address'))).toHaveLength(20)
    expect(lines.join('\n')).toContain('more in the sandbox')
    expect(lines.length).toBeLessThan(50)
  })

  it('[REQ-TRUST-8] differs by the path of each change, in one line without control characters', () => {
    const before = { a: { b: 1 }, gone: true, same: [1] }
    const after = { a: { b: '\u001b[2J\nx' }, same: [1], new: {} }
    expect(listDocumentChanges(before, after)).toEqual([
      expect.stringMatching(/^a\.b: 1 -> "/),
      'gone: true -> nothing',
      'new: nothing -> {}',
    ])
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be there.
    expect(listDocumentChanges(before, after).join('')).not.toMatch(/[\u0000-\u001f]/)
  })
})
