import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const { lateTest } = createRequire(import.meta.url)('../../runtime/test-guards/node/written-tests.cjs') as {
  lateTest(file: string, startedMs: number): string | null
}

describe('a compiled test that lies among the sources', () => {
  let dir = ''
  const at = (path: string): string => join(dir, 'build/src', path)
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'phaselock-written-'))
    mkdirSync(at('testing'), { recursive: true })
    writeFileSync(at('add.js'), "import { more } from './more.js'\n")
    writeFileSync(at('more.js'), '')
    writeFileSync(at('add.helper.js'), "import './testing/expected.js'\n")
    writeFileSync(at('testing/expected.js'), '')
    writeFileSync(at('add.test.js'), "import { add } from './add.js'\nimport { same } from './add.helper.js'\n")
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  it.each(['add.test.js', 'add.helper.js', 'testing/expected.js'])(
    '[REQ-VIEW-17] is refused once %s was changed while the tests ran; code under test is free',
    async (path) => {
      // A file that was just written must be older than the start by more than clocks differ.
      await sleep(60)
      const startedMs = Date.now()
      await sleep(60)
      writeFileSync(at('add.js'), "import { more } from './more.js'\n")
      writeFileSync(at('more.js'), '')
      expect(lateTest(at('add.test.js'), startedMs)).toBeNull()
      writeFileSync(at(path), path === 'add.helper.js' ? "import './testing/expected.js'\n" : ' ', {
        flag: path === 'add.helper.js' ? 'w' : 'a',
      })
      expect(lateTest(at('add.test.js'), startedMs)).toContain(`${path} was changed while the tests ran`)
    },
  )
})
