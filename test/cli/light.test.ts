import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from './program.js'

const IMPORT = /^(?:import|export) (?!type )[^'"]*?from '([^']+)'|^import '([^']+)'/gm

/** The files and packages that a file needs before its first line runs. */
function loadedBy(file: string, seen = new Set<string>()): ReadonlySet<string> {
  seen.add(file)
  for (const [, from, alone] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    const name = from ?? alone ?? ''
    if (!name.startsWith('.')) seen.add(name)
    else {
      const path = join(dirname(file), name.replace(/\.js$/, '.ts'))
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
