import { afterAll, beforeAll, describe, it } from 'vitest'
import { expectRefused, type Forge, openForge, type Project } from './forge.js'
import { copyInstalled, copyOwn, jest } from './packages.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge()
})
afterAll(() => forge?.end())

const JEST = jest()
const OLD_ENTRY = 'exports[`first 1`] = `1`;\n'
const NEW_ENTRY = 'exports[`adds 1`] = `5`;\n'
const SNAP = 'tests/__snapshots__/a.test.js.snap'

interface Runner {
  readonly name: string
  readonly isThere: boolean
  readonly header: string
  readonly imports: string
  readonly run: string
  readonly prepare: (dir: string) => void
}

const RUNNERS: readonly Runner[] = [
  {
    name: 'vitest',
    isThere: true,
    header: '// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html\n\n',
    imports: "import { expect, test } from 'vitest'\n",
    run: 'npx vitest run --reporter=verbose',
    prepare: copyOwn('vitest'),
  },
  {
    name: 'jest',
    isThere: JEST.ok,
    header: '// Jest Snapshot v1, https://jestjs.io/docs/snapshot-testing\n\n',
    imports: '',
    run: 'node --experimental-vm-modules node_modules/jest/bin/jest.js --verbose',
    prepare: copyInstalled(JEST),
  },
]

// The new test stands in a file that has a snapshot already, and compares a value too, so that it can be inverted.
function project({ imports, header, run, prepare }: Runner): Project {
  const old = `${imports}test('first', () => { expect(1).toMatchSnapshot() })\n`
  const added = `test('adds', async () => {
  const { add } = await import('../src/add.js')
  expect(add(2, 3)).toBe(5)
  expect(add(2, 3)).toMatchSnapshot()
})
`
  return {
    files: {
      ...{ 'package.json': '{"name": "adder", "type": "module"}\n', '.gitignore': 'node_modules/\n' },
      ...{ 'src/first.js': 'export const first = 1\n', 'tests/a.test.js': old, [SNAP]: `${header}${OLD_ENTRY}` },
    },
    ...{ prepare, run, tests: { 'tests/a.test.js': `${old}${added}` } },
  }
}

const HONEST = { 'src/add.js': 'export const add = (a, b) => a + b\n' }

describe.each(RUNNERS.filter(({ isThere }) => isThere))('snapshots of $name', (runner) => {
  it('[REQ-PIN-5] an old entry stays as it was at RED', async () => {
    const task = await forge.inImpl(project(runner))
    const changed = `${runner.header}${NEW_ENTRY}\n${OLD_ENTRY.replace('`1`;', '`2`;')}`
    await task.write({ ...HONEST, [SNAP]: changed })
    await expectRefused(task, /a\.test\.js\.snap \(changed\)/)
  })

  it('[REQ-PIN-5] an entry of a new test may be added in IMPL', async () => {
    const task = await forge.inImpl(project(runner))
    await task.write({ ...HONEST, [SNAP]: `${runner.header}${NEW_ENTRY}\n${OLD_ENTRY}` })
    await task.completes()
  })
})
