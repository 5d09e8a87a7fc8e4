import { describe, expect, it } from 'vitest'
import { readLocalSettings } from '../../src/app/worktrees/local-settings.js'

const listing = (...settings: readonly (readonly [scope: string, key: string, value: string])[]): string =>
  settings.map(([scope, key, value]) => `${scope}\0${key}\n${value}\0`).join('')

describe('settings that name programs', () => {
  it('[REQ-TREES-12] of the repository count as the operator set them, or name a program that fails', () => {
    const { overrides, filters, hasDrivers } = readLocalSettings(
      listing(
        ...([
          ['global', 'merge.a.driver', 'mine %A'],
          ['local', 'merge.a.driver', 'theirs'],
          ['worktree', 'merge.b.driver', 'theirs\nin lines'],
          ['local', 'user.name', 'me'],
        ] as const),
      ),
    )
    expect(overrides).toEqual([
      ['merge.a.driver', 'mine %A'],
      ['merge.b.driver', 'false'],
    ])
    expect([filters.size, hasDrivers]).toEqual([0, true])
  })

  it('[REQ-TREES-12] a filter of which the operator set only a part is not run at all', () => {
    const { overrides, filters } = readLocalSettings(
      listing(
        ...([
          ['system', 'filter.whole.clean', 'mine'],
          ['local', 'filter.whole.clean', 'theirs'],
          ['global', 'filter.x.y.clean', 'mine'],
          ['local', 'filter.x.y.process', 'theirs'],
        ] as const),
      ),
    )
    expect([...filters]).toEqual(['x.y'])
    expect(overrides).toEqual([
      ['filter.whole.clean', 'mine'],
      ['filter.x.y.clean', ''],
      ['filter.x.y.smudge', ''],
      ['filter.x.y.process', ''],
    ])
  })

  it('[REQ-TREES-12] what cannot be overridden is a problem, and settings of the operator never are', () => {
    const many = Array.from({ length: 1001 }, (_, at) => `merge.${at}.driver`)
    const problems = (scope: string) => [
      readLocalSettings(listing(...many.map((key) => [scope, key, 'x'] as const))).problem,
      readLocalSettings(listing([scope, 'filter.\uFFFD.clean', 'x'])).problem,
      readLocalSettings(listing([scope, 'remote.o.uploadpack', 'x'], [scope, 'remote.o.promisor', 'true'])).problem,
    ]
    expect(problems('local').every((problem) => problem !== null)).toBe(true)
    expect(problems('global')).toEqual([null, null, null])
    expect(readLocalSettings(listing(['local', 'remote.o.uploadpack', 'x'])).problem).toBeNull()
  })
})
