import { afterAll, beforeAll, describe, it } from 'vitest'
import type { Files } from '../e2e/projects.js'
import { expectRefused, type Forge, openForge } from './forge.js'
import { adding, FILES, GO, HAS_GO, HONEST, WRONG } from './go-project.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge()
})
afterAll(() => forge?.end())

const PASSES = 'package adder\n\nimport "testing"\n\nfunc TestAdds(t *testing.T) {}\n'
const MAIN =
  'package adder\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(0)\n}\n'

describe.skipIf(!HAS_GO)('Go in a composed view', () => {
  it('[REQ-VIEW-3] an honest implementation completes', async () => {
    const task = await forge.inImpl(GO)
    await task.write(HONEST)
    await task.completes()
    await task.agent.finish('sums up')
  })

  it.each<readonly [string, Files, readonly RegExp[]]>([
    [
      'data that the code changes before the test reads it makes the run void',
      adding('os', 'os.WriteFile("testdata/sum_test.txt", []byte("4"), 0o644)'),
      [/void/, /testdata\/sum_test\.txt/],
    ],
    [
      'code that writes a test while it runs makes the run void',
      adding('os', `os.WriteFile("z_test.go", []byte(${JSON.stringify(PASSES)}), 0o644)`),
      [/void/, /z_test\.go/],
    ],
    [
      'a replaced module blocks',
      { ...WRONG, 'go.mod': `${FILES['go.mod']}\nreplace example.org/x => ./x\n` },
      [/go\.mod .*changed/],
    ],
  ])('[REQ-VIEW-3] %s', async (_, files, patterns) => {
    const task = await forge.inImpl(GO)
    await task.write(files)
    await expectRefused(task, ...patterns)
  })

  it.each<readonly [string, Files, readonly RegExp[]]>([
    ['a TestMain that ends with 0 is left out', { 'main_test.go': MAIN }, [/1 failed/, /main_test\.go/]],
    ['a test that was changed blocks', { 'z_test.go': PASSES }, [/z_test\.go/]],
    [
      'a helper of tests that was changed blocks',
      {
        'internal/testutil/equal.go':
          'package testutil\n\nimport "testing"\n\nfunc Equal(t *testing.T, got, want int) {}\n',
      },
      [/internal\/testutil\/equal\.go/],
    ],
    ['a workspace blocks', { 'go.work': 'go 1.20\n\nuse ./x\n' }, [/go\.work was added/]],
    ['a module of its own around the tests blocks', { 'internal/go.mod': 'module x\n' }, [/internal\/go\.mod/]],
    [
      'packages in vendor that came since are left out',
      { 'vendor/modules.txt': '# x v0.0.0\n', 'vendor/x/x.go': 'package x\n' },
      [/1 failed/, /Left out of the run.*vendor/],
    ],
  ])('[REQ-VIEW-3] %s, written beside all tools', async (_, files, patterns) => {
    const task = await forge.inImpl(GO)
    await task.write(WRONG)
    task.smuggle(files)
    await expectRefused(task, ...patterns)
  })
})
