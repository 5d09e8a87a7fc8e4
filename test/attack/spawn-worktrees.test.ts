import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { holdIndex, undoPartialWrites } from '../../src/app/worktrees/main-tree.js'
import { git, makeRepository } from '../e2e/projects.js'

const MS = 300_000

describe('a merge that was cut off over a link that an agent made', () => {
  let dir: string
  let repository: string
  let outside: string

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'phaselock-links-'))
    repository = join(dir, 'repository')
    outside = join(dir, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'keys'), '')
    makeRepository(repository, { 'a.txt': 'a\n' })
  })
  afterEach(() => rmSync(dir, { recursive: true, force: true }))

  const commit = (): string => {
    git(repository, 'add', '-A')
    git(repository, '-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'x')
    return git(repository, 'rev-parse', 'HEAD').trim()
  }
  const linked = (): string => {
    rmSync(join(repository, 'e'), { recursive: true, force: true })
    symlinkSync(outside, join(repository, 'e'))
    return commit()
  }
  const filled = (): string => {
    rmSync(join(repository, 'e'), { recursive: true, force: true })
    mkdirSync(join(repository, 'e'))
    writeFileSync(join(repository, 'e/keys'), 'mine\n')
    return commit()
  }

  /** The branch is at `after`, the tree still at `before`; then what a server does at its next start. */
  async function goOn(before: string, after: string, meanwhile: () => void = () => undefined): Promise<string | null> {
    git(repository, 'reset', '--quiet', '--hard', before)
    git(repository, 'update-ref', 'HEAD', after)
    meanwhile()
    const held = await holdIndex(repository, 'one')
    if (held === null) throw new Error('no index')
    try {
      const files = { name: 'one', repository, before, after }
      expect(await undoPartialWrites(held, files)).toEqual([])
      return await held.follow(files)
    } finally {
      held.release()
    }
  }

  it(
    '[REQ-SPAWNATTACK-7] removes nothing outside of the repository when the link becomes a folder',
    async () => {
      const before = linked()
      const after = filled()
      expect(await goOn(before, after)).toBeNull()
      expect(existsSync(join(outside, 'keys'))).toBe(true)
      expect(readFileSync(join(outside, 'keys'), 'utf8')).toBe('')
      expect(readFileSync(join(repository, 'e/keys'), 'utf8')).toBe('mine\n')
    },
    MS,
  )

  it(
    '[REQ-SPAWNATTACK-7] writes nothing outside of the repository when a folder has become the link already',
    async () => {
      const before = filled()
      const after = linked()
      const halfWay = (): void => {
        rmSync(join(repository, 'e'), { recursive: true })
        symlinkSync(outside, join(repository, 'e'))
      }
      expect(await goOn(before, after, halfWay)).toBeNull()
      expect(readFileSync(join(outside, 'keys'), 'utf8')).toBe('')
      expect(lstatSync(join(repository, 'e')).isSymbolicLink()).toBe(true)
    },
    MS,
  )
})
