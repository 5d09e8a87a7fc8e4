import { describe, expect, it } from 'vitest'
import { sortInstallChanges } from '../../src/app/dependencies/install-changes.js'
import { pickInstallVariables } from '../../src/app/dependencies/install-environment.js'
import { pinDependencies } from '../../src/app/dependencies/pin-dependencies.js'
import type { Change } from '../../src/tree/change.js'

const ABOUT = { program: 'npm', isLeft: (path: string) => path.endsWith('.pyc'), isPinned: () => false }

function change(path: string, more: Partial<Change> = {}): Change {
  return { path, kind: 'created', type: 'file', bytes: 1, sha256: null, problem: null, ...more }
}

describe('the changes of an install', () => {
  it('[REQ-INSTALL-3] refuses an install that changes anything else', () => {
    const honest = [change('package.json', { kind: 'modified' }), change('node_modules/a/index.js')]
    for (const other of [
      change('src/a.js'),
      change('package.json', { type: 'link' }),
      change('node_modules/a/link', { type: 'link', problem: 'is a link that leaves the work tree' }),
      change('src', { type: 'directory', kind: 'deleted', problem: 'cannot be read' }),
      change('.npmrc'),
    ])
      expect(sortInstallChanges([...honest, other], ABOUT), other.path).toContain(other.path)
    const pinned = sortInstallChanges(honest, { ...ABOUT, isPinned: (path) => path === 'package.json' })
    expect(pinned).toContain('package.json (part of the tests)')
    expect(sortInstallChanges([...honest, change('a.pyc')], ABOUT)).toEqual({
      ...{ kept: honest, paths: ['node_modules', 'package.json'], folders: ['node_modules'] },
    })
  })

  const RED = { ids: ['a'], unloaded: [], harness: { 'Cargo.toml': { '[dev-dependencies]': 'a', '[lib]': 'x' } } }

  it('[REQ-INSTALL-3] keeps the test setup of RED, except for dependencies', () => {
    const before = { harness: RED.harness }
    const makeNow = (parts: Record<string, string>) => ({ harness: { 'Cargo.toml': parts } })
    const pin = (program: string, now: ReturnType<typeof makeNow>, was = before) =>
      pinDependencies(RED, { program, before: was, after: now })
    expect(pin('npm', makeNow({ '[dev-dependencies]': 'b', '[lib]': 'x' }))).toContain('it changed test setup')
    const scripts = { 'package.json': { 'scripts.test': 'a' } }
    expect(pinDependencies(null, { program: 'npm', before: { harness: {} }, after: { harness: scripts } })).toContain(
      'package.json (scripts.test)',
    )
    // Somebody changed it since RED: an install does not make that right.
    const moved = { harness: { 'Cargo.toml': { '[dev-dependencies]': 'c', '[lib]': 'x' } } }
    expect(pin('cargo', makeNow({ '[dev-dependencies]': 'd', '[lib]': 'x' }), moved)).toContain('changed since RED')
    expect(pin('cargo', makeNow({ '[dev-dependencies]': 'a', '[lib]': 'x' }))).toBeNull()
    expect(pin('cargo', makeNow({ '[dev-dependencies]': 'b', '[lib]': 'x' }))).toMatchObject({
      ...{ ids: ['a'], harness: { 'Cargo.toml': { '[dev-dependencies]': 'b', '[lib]': 'x' } } },
    })
  })

  it('[REQ-INSTALL-6] passes on registries and proxies, and no credentials', () => {
    const given = {
      ...{ npm_config_registry: 'https://packages.example/npm', HTTPS_PROXY: 'http://me:secret@proxy.example' },
      ...{ NPM_TOKEN: 'secret', npm_config__authToken: 'secret', AWS_SECRET_ACCESS_KEY: 'secret', HOME: '/root' },
      ...{ PIP_INDEX_URL: 'https://token@packages.example/simple', no_proxy: 'localhost' },
    }
    expect(pickInstallVariables(given)).toEqual({
      ...{ npm_config_registry: 'https://packages.example/npm', no_proxy: 'localhost' },
    })
  })
})
