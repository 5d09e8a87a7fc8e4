import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { listOpenedPaths } from '../../src/core/paths/opened-paths.js'
import { findProtection, PROTECTED_NAMES } from '../../src/core/paths/protected-paths.js'
import { constraint, contractOf, phase } from './world.js'

const DOCS = readFileSync(new URL('../../docs/contract-reference.md', import.meta.url), 'utf8')

describe('protected paths', () => {
  it.each(PROTECTED_NAMES.map((name) => [name]))('[REQ-PROTECT-3] %s is in the documentation', (name) => {
    const [section = ''] = DOCS.split('#### Protected and pinned paths').slice(1)
    expect(section.split('\n### ')[0]).toContain(name)
  })

  it('[REQ-PROTECT-2] a glob names a protected path only where it spells it out', () => {
    const named = ['CLAUDE.md', '**/AGENTS.md', '.vscode/**', 'web/.husky/*', '.github/workflows/*.yml']
    const unnamed = ['**', '**/*', '*.md', '**/*.md', '.*/**', '.github/**', '{CLAUDE.md,src}', 'src/**', '.v?code/**']
    expect(named.filter((one) => findProtection(one) === null)).toEqual([])
    expect(unnamed.filter((one) => findProtection(one) !== null)).toEqual([])
  })

  it('[REQ-PROTECT-3] what a contract opens is listed with its phase, glob and kind', () => {
    const blockers = [
      { check: 'command_succeeds', severity: 'blocking', message: '', params: { run: './ci/check.sh' } },
    ]
    const gates = [{ id: 'g', type: 'validation', blockers, timeoutSeconds: 10, autoAdvance: false }]
    const patterns = constraint({
      allowedPatterns: ['src/**', 'ci/check.sh', 'CLAUDE.md', '.nvmrc', 'ci/**', 'README.md'],
    })
    const contract = contractOf([
      phase('A', { allowedTools: ['write_files'], constraints: new Map([['write_files', patterns]]) }),
      phase('B', { writable: ['**', '.vscode/**'], gates: gates as never }),
    ])
    expect(listOpenedPaths(contract).map(({ why: _, ...one }) => one)).toEqual([
      { phase: 'A', pattern: 'ci/check.sh', kind: 'pinned' },
      { phase: 'A', pattern: 'CLAUDE.md', kind: 'protected' },
      { phase: 'A', pattern: '.nvmrc', kind: 'pinned' },
      { phase: 'B', pattern: '.vscode/**', kind: 'protected' },
    ])
    expect(listOpenedPaths(contractOf([phase('A', { allowedTools: ['write_files'] })]))).toEqual([])
  })
})
