import { describe, expect, it } from 'vitest'
import { type CallId, ciLimit, describeCallers, forbiddenTo, PERMISSIONS } from '../../src/core/permissions.js'

const OWN = '/srv/project'
const scene = { workspaces: [OWN], contract: null }

describe('permissions', () => {
  it('[REQ-ROLES-1] whoever a row does not name is refused, with what would be right', () => {
    for (const id of Object.keys(PERMISSIONS) as CallId[])
      for (const caller of ['agent', 'phase', 'reviewer', 'participant', 'human', 'ci'] as const) {
        const isNamed = (PERMISSIONS[id] as readonly string[]).includes(caller)
        expect({ id, caller, isLetIn: forbiddenTo(id, caller) === null }).toEqual({ id, caller, isLetIn: isNamed })
      }
    expect(forbiddenTo('addContract', 'ci')).toMatchObject({
      detail: 'Operators with the role ci may not do this.',
      remedy: expect.stringContaining('without the role ci'),
    })
    expect(forbiddenTo('submitReview', 'human')?.detail).toContain('review token')
  })

  it('[REQ-ROLES-4] what ci may do, a human may do too', () => {
    const alone = Object.entries(PERMISSIONS).filter(([, row]) => {
      const callers: readonly string[] = row
      return callers.includes('ci') && !callers.includes('human')
    })
    expect(alone).toEqual([])
  })

  it('[REQ-ROLES-3] ci asks for nothing that loosens a rule', () => {
    for (const [id, body, found, field] of [
      ['createTask', { mode: 'advisory' }, null, 'mode'],
      ['createTask', { mode: 'permissive' }, null, 'mode'],
      ['createTask', { workspace: '/srv' }, null, 'workspace'],
      ['createTask', { workspace: `${OWN}/` }, null, 'workspace'],
      ['createTask', { contract: 'old' }, 'replaced', 'contract'],
      ['createTask', { contract: 'open' }, 'without_wall', 'contract'],
      ['mergeTask', { force: true }, null, 'force'],
      ['discardTask', { force: true }, null, 'force'],
    ] as const) {
      const refused = ciLimit(id, body, { ...scene, contract: found })
      expect(refused?.detail, JSON.stringify(body)).toMatch(new RegExp(`^${field}: `))
    }
    for (const body of [{}, { mode: 'strict' }, { workspace: OWN }, { contract: 'other' }, { worktree: true }])
      expect(ciLimit('createTask', body, scene)).toBeNull()
    expect(ciLimit('mergeTask', { force: false }, scene)).toBeNull()
  })

  it('[REQ-ROLES-1] documentation names everybody who may call', () => {
    expect(describeCallers('claimTask')).toBe('agents (agent token)')
    expect(describeCallers('addContract')).toBe('operators without the role ci')
    expect(describeCallers('getApproval')).toBe('agents (agent or phase token), reviewers (review token) and operators')
  })
})
