import { describe, expect, it } from 'vitest'
import { DOCUMENT_CODES } from '../../../src/contract/documents/codes.js'
import { ACCEPTED, REFUSED } from './cases.js'
import { understood } from './phase.js'

describe('what a phase document demands', () => {
  it.each(REFUSED)('[REQ-DOC-1] refused: $name', async ({ text, head, problems }) => {
    expect(await understood(text, head)).toEqual({ fields: [], problems })
  })

  it.each(ACCEPTED)('[REQ-DOC-2] understood: $name', async ({ text, head, fields, problems }) => {
    expect(await understood(text, head)).toEqual({ fields: [...fields].sort(), problems: problems ?? [] })
  })

  it('[REQ-DOC-1] every code of documents has a case', () => {
    const seen = new Set(
      [...REFUSED, ...ACCEPTED].flatMap(({ problems }) => problems ?? []).map((one) => one.split('@')[0]),
    )
    expect(Object.keys(DOCUMENT_CODES).filter((code) => !seen.has(code))).toEqual([])
  })
})
