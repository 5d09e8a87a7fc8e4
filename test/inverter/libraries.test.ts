import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { installed } from '../mcp/packages.js'
import type { FixtureSuite } from './fixture.js'
import { AVA_SUITE, JEST_SUITE, MOCHA_SUITE, TAPE_SUITE } from './javascript-fixtures.js'
import { TESTIFY_SUITE } from './other-fixtures.js'
import { expectTwinsToHold, type Runner } from './run-suite.js'
import { GO_FILES } from './runners.js'

interface Library {
  readonly suite: FixtureSuite
  readonly packages: readonly string[]
  readonly format: Runner['format']
  readonly argv: readonly string[]
  readonly files?: Readonly<Record<string, string>>
}

// No dependencies: they are installed for these tests, which are skipped where they cannot be had.
const LIBRARIES: readonly Library[] = [
  {
    ...{ suite: JEST_SUITE, packages: ['jest@30'], format: 'jest', files: { 'package.json': '{}' } },
    argv: ['node', 'node_modules/jest/bin/jest.js', '--json', '--ci'],
  },
  {
    ...{ suite: MOCHA_SUITE, packages: ['mocha@11', 'chai@5'], format: 'mocha' },
    argv: ['node', 'node_modules/mocha/bin/mocha.js', '--reporter=json', MOCHA_SUITE.path],
  },
  {
    ...{ suite: TAPE_SUITE, packages: ['tape@5'], format: 'tap' },
    argv: ['node', TAPE_SUITE.path],
  },
  {
    ...{ suite: AVA_SUITE, packages: ['ava@6'], format: 'tap', files: { 'package.json': '{"type":"module"}' } },
    argv: ['node', 'node_modules/ava/entrypoints/cli.mjs', '--tap', AVA_SUITE.path],
  },
]

for (const { suite, packages, ...runner } of LIBRARIES) {
  const found = installed(suite.name.replace(/\W+/g, '-'), packages)
  describe.skipIf(!found.ok)(`${suite.name}${found.ok ? '' : ` (${found.reason})`}`, () => {
    it('[REQ-INVERT-6] an honest suite passes unturned and fails turned', async () => {
      const folder = found.ok ? join(found.dir, 'node_modules') : ''
      await expectTwinsToHold({ suite, ...runner, packages: folder }, 'libraries')
    })
  })
}

/** go.mod and go.sum of a module that requires testify, null where it cannot be had. */
function requireTestify(): Readonly<Record<string, string>> | null {
  const folder = mkdtempSync(join(tmpdir(), 'testify-'))
  try {
    writeFileSync(join(folder, 'go.mod'), GO_FILES['go.mod'] ?? '')
    const got = spawnSync('go', ['get', 'github.com/stretchr/testify@v1.10.0'], { cwd: folder, timeout: 120_000 })
    if (got.status !== 0) return null
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8')
    return { ...GO_FILES, 'go.mod': read('go.mod'), 'go.sum': read('go.sum') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const TESTIFY = requireTestify()

describe.skipIf(TESTIFY === null)(`testify${TESTIFY === null ? ' (cannot be downloaded)' : ''}`, () => {
  it('[REQ-INVERT-6] an honest suite passes unturned and fails turned', async () => {
    const argv = ['go', 'test', '-mod=mod', '-json', './...']
    await expectTwinsToHold({ suite: TESTIFY_SUITE, argv, format: 'go', files: TESTIFY ?? {} }, 'libraries')
  })
})
