import type { Files } from '../e2e/projects.js'
import type { Terms } from './stage.js'

export const NODE_PROJECT: Files = {
  'package.json': `${JSON.stringify({
    name: 'adder',
    version: '1.0.0',
    type: 'module',
    scripts: { test: 'node --import ./setup.js --test tests/' },
  })}\n`,
  'setup.js': '// Nothing to set up yet.\n',
  '.gitignore': 'node_modules/\ncoverage/\n',
  'node_modules/.package-lock.json': '{"name": "adder"}\n',
  'node_modules/sums/package.json': '{"name": "sums", "version": "1.0.0", "main": "index.js"}\n',
  'node_modules/sums/index.js': 'exports.isSum = (a, b, sum) => a + b === sum\n',
}

export const NODE: Terms = { run: 'npm test' }
/** IMPL may write everything, tests too: then only what was pinned at RED holds them. */
export const LOOSE: Terms = { run: 'npm test', impl: '{allowed_patterns: ["**"]}' }

export const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'

test('two and three are five', async () => {
  const { add } = await import('../src/add.js')
  assert.equal(add(2, 3), 5)
})

test('nothing and one is one', async () => {
  const { add } = await import('../src/add.js')
  assert.equal(add(0, 1), 1)
})
`
export const TESTS: Files = { 'tests/add.test.js': TEST }

export const HONEST = 'export const add = (a, b) => a + b\n'
/** Does nothing of what was asked for. */
export const EMPTY = 'export const add = () => undefined\n'
