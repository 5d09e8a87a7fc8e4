import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from './program.js'

const IMPORT = /^(?:import|export) (?!type )[^'"]*?from ['"]([^'"]+)['"]|^import ['"]([^'"]+)['"]/gm

/** The files and packages that a file needs before its first line runs. */
function loadedBy(file: string, seen = new Set<string>()): ReadonlySet<string> {
  seen.add(file)
  for (const [, from, alone] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    const name = from ?? alone ?? ''
    if (!name.startsWith('.')) seen.add(name)
    else {
      const path = join(dirname(file), file.endsWith('.ts') ? name.replace(/\.js$/, '.ts') : name)
      expect(existsSync(path), path).toBe(true)
      if (!seen.has(path)) loadedBy(path, seen)
    }
  }
  return seen
}

test('[REQ-CLI-23] before a command runs nothing is loaded that only servers and readers of contracts need', () => {
  const loaded = [...loadedBy(join(ROOT, 'src/cli/main.ts'))]
  expect(loaded.filter((name) => !name.startsWith('/') && !name.startsWith('node:'))).toEqual(['commander'])
  const folders = loaded.filter((name) => name.startsWith('/')).map((path) => relative(join(ROOT, 'src'), path))
  expect(folders.filter((path) => /^(store|app|http|mcp|checks|tools|knowledge)\//.test(path))).toEqual([])
})

test('[REQ-CLI-23] nor by the program as it is built', () => {
  const packagesOf = (name: string): ReadonlySet<string> => {
    const loaded = [...loadedBy(join(ROOT, 'dist/program', name))].filter((one) => one.startsWith('/'))
    const text = loaded.map((path) => readFileSync(path, 'utf8')).join('\n')
    const named = text.matchAll(/^\s*\/\/(?:#region)? node_modules\/((?:@[^/\s]+\/)?[^/\s]+)\//gm)
    return new Set([...named].map(([, one]) => one ?? ''))
  }
  expect([...packagesOf('main.js')]).toEqual(['commander'])
  expect([...packagesOf('serve.js')]).toEqual(expect.arrayContaining(['ajv', 'fastify', 'yaml']))
})
