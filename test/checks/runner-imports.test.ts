import { describe, expect, it } from 'vitest'
import { importsTestRunner } from '../../src/checks/test-files/runner-imports.js'

describe('a file that imports the module of a runner', () => {
  it.each([
    ["import { test } from 'node:test'\ntest('x', () => {})\n"],
    ["import test from 'ava'\n"],
    ["import 'node:test'\n"],
    ["export { test } from 'node:test'\n"],
    ["const { test } = require('node:test')\n"],
    ["const tape = module.require('tape')\n"],
    ["if (process.env.CI) await import('node:test')\n"],
    ['const runner = await import(`node:test`)\n'],
    ["const { test } = process.getBuiltinModule('node:test')\n"],
    ["import { createRequire } from 'node:module'\nconst load = createRequire(import.meta.url)\nload('mocha')\n"],
    ["const load = require\nload('tap')\n"],
    ["const name = 'node:test'\nconst { test } = await import(name)\n"],
    ["const quoted = /'/.test(x) ? import('node:test') : '/'\n"],
    ['eval("const { test } = require(\'node:test\')")\n'],
  ])('[REQ-VIEW-13] counts as a test: %j', async (text) => {
    expect(await importsTestRunner('src/a.js', text)).toBe(true)
    expect(await importsTestRunner('src/a.ts', text)).toBe(true)
  })

  it.each([
    ['const HEAD = "import { test } from \'node:test\'"\n'],
    ["const HEAD = `import { test } from 'node:test'\n`\nexport const file = (name) => HEAD + name\n"],
    ["// import { test } from 'node:test'\nexport const one = 1\n"],
    ["/* const { test } = require('node:test') */\nexport const one = 1\n"],
    ["export const runners = ['ava', 'mocha', 'tap']\n"],
    ["export const isTest = (text) => text.includes('node:test')\n"],
    ["import fs from 'node:fs'\nexport const names = { mocha: 'mocha' }\n"],
  ])('[REQ-VIEW-13] its name in a string or a comment does not: %j', async (text) => {
    expect(await importsTestRunner('src/a.js', text)).toBe(false)
    expect(await importsTestRunner('src/a.ts', text)).toBe(false)
  })

  it('[REQ-VIEW-13] where a file cannot be parsed, its words decide', async () => {
    expect(await importsTestRunner('src/a.js', 'const {{ from = "import { test } from \'node:test\'"\n')).toBe(true)
    expect(await importsTestRunner('src/a.py', "import { test } from 'node:test'\n")).toBe(false)
  })
})
