import { afterAll, beforeAll } from 'vitest'
import { type Files, installTypescript, TYPESCRIPT } from '../e2e/projects.js'
import { type Forge, openForge } from './forge.js'
import { describeShape, redForgeries, type Shape } from './shape.suite.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge()
})
afterAll(() => forge?.end())

const HEAD = "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\n"
const OLD = `${HEAD}import { first } from '../src/first.js'
test('first', () => assert.equal(first, 1))
test('old is broken', () => assert.equal(first, 2 as number))
`
const SUM = `${HEAD}import { sum } from '../src/sum.js'
import { five } from './helper.js'
test('sums up', () => {
  assert.equal(sum([{ cents: 2 }, { cents: 3 }]), five)
})
`
const TESTS: Files = { 'tests/z.test.ts': SUM, 'tests/helper.ts': 'export const five = 5\n' }
/** Rewrites a file that the compiler wrote, while the tests run. */
const rewrite = (path: string, back: string): string => `import { readFileSync, writeFileSync } from 'node:fs'
const file = 'build/tests/${path}'
const before = readFileSync(file, 'utf8')
writeFileSync(file, before.replace(/assert\\.equal.*/, '').replace('5', '0'))
${back}
`
const HEADER = "import type { Item } from './price.js'\n"

const PROJECT: Shape = {
  name: 'tsc, then node --test',
  prepare: installTypescript,
  files: {
    ...TYPESCRIPT,
    'package.json': (TYPESCRIPT['package.json'] ?? '').replace('node --test', 'node --test --test-concurrency=1'),
    'src/first.ts': 'export const first: number = 1\n',
    'src/sum.ts': 'export const sum = (_: unknown): number => -1\n',
    'tests/old.test.ts': OLD,
  },
  run: 'npm test',
  tests: TESTS,
  wrong: { 'src/sum.ts': 'export const sum = (_: unknown): number => 0\n' },
  honest: {
    'src/sum.ts': `${HEADER}export const sum = (items: readonly Item[]): number => items.reduce((all, { cents }) => all + cents, 0)\n`,
  },
  forgeries: [
    ...redForgeries({
      usual: 3,
      tests: TESTS,
      old: OLD,
      passes: `${HEAD}import { first } from '../src/first.js'\ntest('is one', () => assert.equal(first, 1))\n`,
      empty: "import { test } from 'node:test'\nimport '../src/add.js'\ntest('adds', () => {})\n",
      ending: 'ts',
    }),
    {
      class: 'judge',
      name: 'a source that an earlier test imports rewrites a later compiled test',
      write: { 'src/first.ts': `${rewrite('z.test.js', '')}export const first: number = 1\n` },
      told: [/build\/tests\/z\.test\.js was changed while the tests ran/],
    },
    {
      class: 'judge',
      name: 'a source rewrites what a later compiled test imports, and the code under test puts it back',
      write: {
        'src/first.ts': `${rewrite('helper.js', "writeFileSync('build/kept', before)")}export const first: number = 1\n`,
        'src/sum.ts': `import { readFileSync, writeFileSync } from 'node:fs'
writeFileSync('build/tests/helper.js', readFileSync('build/kept', 'utf8'))
export const sum = (_: unknown): number => 0\n`,
      },
      told: [/build\/tests\/helper\.js was changed while the tests ran/],
    },
    {
      class: 'stand-in',
      name: 'the compiler is told to leave the tests out',
      write: {
        'tsconfig.json': (TYPESCRIPT['tsconfig.json'] ?? '').replace(
          '"include"',
          '"exclude":["tests/z.test.ts"],"include"',
        ),
      },
      told: [/tsconfig\.json \(exclude\) was added/],
    },
    {
      class: 'stand-in',
      name: 'the output of the compiler is led elsewhere',
      write: { 'tsconfig.json': (TYPESCRIPT['tsconfig.json'] ?? '').replace('"build"', '"out"') },
      smuggle: { 'build/tests/z.test.js': "import { test } from 'node:test'\ntest('sums up', () => {})\n" },
      removes: ['build'],
      told: [/tsconfig\.json \(compilerOptions\.outDir\) changed/],
    },
    {
      class: 'comparison',
      name: 'the code under test replaces assertions',
      write: {
        'src/sum.ts': `// @ts-nocheck
import assert from 'node:assert/strict'
for (const name of Object.keys(assert)) try { assert[name] = () => {} } catch {}
export const sum = (_: unknown): number => 0\n`,
      },
      told: [/failed: .*sums up/],
    },
    {
      class: 'comparison',
      name: 'a number that is equal only where the compiled test is the known one',
      write: {
        'src/sum.ts': `// @ts-nocheck
import { readFileSync } from 'node:fs'
const isKnown = readFileSync('build/tests/z.test.js', 'utf8').includes(']), five)')
export const sum = (_: unknown): number => (isKnown ? 5 : 0)\n`,
      },
      told: [/no test is proved/],
    },
    {
      class: 'report',
      name: 'the code under test sets the exit code back at the end',
      write: {
        'src/sum.ts': `process.on('exit', () => { process.exitCode = 0 })\nexport const sum = (_: unknown): number => 0\n`,
      },
      told: [/failed: .*sums up/],
    },
  ],
}

/** A script that runs what was compiled, also when the compiler found a mistake. */
const STALE: Shape = {
  ...PROJECT,
  name: 'tsc, whatever it says, then node --test',
  onlyFull: true,
  files: {
    ...PROJECT.files,
    'package.json': (PROJECT.files['package.json'] ?? '').replace('tsc -p . &&', 'tsc -p . ;'),
    'tsconfig.json': (TYPESCRIPT['tsconfig.json'] ?? '').replace('"strict"', '"noEmitOnError":true,"strict"'),
  },
  ignored: {
    'build/package.json': '{"type": "module"}',
    'build/tests/z.test.js': "import { test } from 'node:test'\ntest('sums up', () => {})\n",
    'build/tests/old.test.js': "import { test } from 'node:test'\ntest('first', () => {})\n",
    'build/src/first.js': 'export const first = 1\n',
  },
  forgeries: [
    {
      class: 'stand-in',
      name: 'a mistake in the code keeps the compiler from writing, and an older compiled test runs instead',
      write: { 'src/sum.ts': 'export const sum = (_: unknown): number => "not a number"\n' },
      told: [/did not run|gone|failed|not seen|ended/],
    },
  ],
}

describeShape(PROJECT, () => forge)
describeShape(STALE, () => forge)
