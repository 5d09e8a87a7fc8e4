import { describe, expect, it } from 'vitest'
import type { Enforcement } from '../../src/core/contract/contract.js'
import {
  type CallId,
  describeCallers,
  findCiLimit,
  findForbidden,
  type NamedContract,
  PERMISSIONS,
} from '../../src/core/identity/permissions.js'

const strict = { mode: 'strict', confinement: 'required', reconcile: 'block' } as Enforcement
const named = { isReplaced: false, isSandboxed: true, enforcement: strict, own: strict }
const scene = { isOwnTree: true, contract: null }

describe('permissions', () => {
  it('[REQ-ROLES-1] a caller that a row does not name is refused, with what would be right', () => {
    for (const id of Object.keys(PERMISSIONS) as CallId[])
      for (const caller of ['agent', 'phase', 'reviewer', 'participant', 'human', 'ci'] as const) {
        const isNamed = (PERMISSIONS[id] as readonly string[]).includes(caller)
        expect({ id, caller, isLetIn: findForbidden(id, caller) === null }).toEqual({ id, caller, isLetIn: isNamed })
      }
    expect(findForbidden('addContract', 'ci')).toMatchObject({
      detail: 'Operators with the role ci may not do this.',
      remedy: expect.stringContaining('without the role ci'),
    })
    expect(findForbidden('submitReview', 'human')?.detail).toContain('review token')
  })

  it('[REQ-ROLES-4] what ci may do, a human may do too', () => {
    const alone = Object.entries(PERMISSIONS).filter(([, row]) => {
      const callers: readonly string[] = row
      return callers.includes('ci') && !callers.includes('human')
    })
    expect(alone).toEqual([])
  })

  it('[REQ-ROLES-3] ci asks for nothing that loosens a rule', () => {
    const other = { isOwnTree: false, contract: null }
    const like = (more: Partial<NamedContract>) => ({ ...scene, contract: { ...named, ...more } })
    const asking = (more: Partial<Enforcement>) => like({ enforcement: { ...strict, ...more } })
    for (const [id, body, found, field] of [
      ['createTask', { mode: 'advisory' }, scene, 'mode'],
      ['createTask', { mode: 'permissive' }, scene, 'mode'],
      ['createTask', { workspace: '/srv' }, other, 'workspace'],
      ['createTask', { contract: 'old' }, like({ isReplaced: true }), 'contract'],
      ['createTask', { contract: 'open' }, like({ isSandboxed: false }), 'contract'],
      ['createTask', { contract: 'loose' }, asking({ mode: 'permissive' }), 'contract'],
      ['createTask', { contract: 'loose' }, asking({ mode: 'advisory' }), 'contract'],
      ['createTask', { contract: 'loose', mode: 'strict' }, asking({ confinement: 'best_effort' }), 'contract'],
      ['createTask', { contract: 'loose' }, asking({ reconcile: 'warn' }), 'contract'],
      ['mergeTask', { force: true }, scene, 'force'],
      ['discardTask', { force: true }, scene, 'force'],
    ] as const) {
      const refused = findCiLimit(id, body, found)
      expect(refused?.detail, JSON.stringify(body)).toMatch(new RegExp(`^${field}: `))
    }
    for (const body of [{}, { mode: 'strict' }, { workspace: '/srv/project' }, { worktree: true }])
      expect(findCiLimit('createTask', body, scene)).toBeNull()
    expect(findCiLimit('createTask', { contract: 'other' }, like({}))).toBeNull()
    expect(findCiLimit('createTask', { mode: 'strict' }, asking({ mode: 'permissive' }))).toBeNull()
    const own = { ...strict, mode: 'permissive' } as const
    expect(findCiLimit('createTask', {}, like({ enforcement: own, own })), "no looser than the server's own").toBeNull()
    expect(findCiLimit('mergeTask', { force: false }, scene)).toBeNull()
  })

  it('[REQ-ROLES-1] documentation names everybody who may call', () => {
    expect(describeCallers('claimTask')).toBe('agents (agent token)')
    expect(describeCallers('addContract')).toBe('operators without the role ci')
    expect(describeCallers('getApproval')).toBe('agents (agent or phase token), reviewers (review token) and operators')
  })
})
