import { describe, expect, it } from 'vitest'
import { isSandboxOnly, listPermissions } from '../../src/core/contract/contract-permissions.js'
import { mustLoad } from './load.js'

const contractWith = (writable: string): string => `
name: paths
version: "1.0"
phases:
  - {id: WORK, description: Work., allowed_tools: [write_files], writable: [${writable}]}
  - {id: DONE, description: Done.}
`

describe('paths that a contract opens', () => {
  it('[REQ-TRUST-3] a protected path is part of what the contract asks for, and reaches beyond the sandbox', async () => {
    const { contract } = await mustLoad(contractWith('"src/**", "**/AGENTS.md"'))
    expect(listPermissions(contract).filter(({ kind }) => kind === 'paths')).toEqual([
      { kind: 'paths', text: expect.stringContaining('WORK may change **/AGENTS.md'), reach: 'outside' },
    ])
    expect(isSandboxOnly(contract)).toBe(false)
  })

  it('[REQ-TRUST-3] a contract that names no such path asks for none', async () => {
    const { contract } = await mustLoad(contractWith('"src/**", "**"'))
    expect(listPermissions(contract).filter(({ kind }) => kind === 'paths')).toEqual([])
    expect(isSandboxOnly(contract)).toBe(true)
  })
})
