import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePlace, type Place } from './process.js'
import { makeRepository } from './projects.js'

export const ADD = `import assert from 'node:assert/strict'
import { test } from 'node:test'
test('adds', async () => assert.equal((await import('../src/add.mjs')).add(2, 3), 5))
`
export const CODE = 'export const add = (a, b) => a + b\n'

/** A repository, and a contract whose tests sleep first: for a number that no other process of this machine sleeps for. */
export async function makeKilledPlace(
  sleep: string,
  { green, files }: { readonly green: string; readonly files: Readonly<Record<string, string>> },
): Promise<{ readonly place: Place; readonly contract: string }> {
  const place = await makePlace()
  const contract = join(place.dir, 'contract.yaml')
  writeFileSync(
    contract,
    `
name: killed
version: "1"
phases:
  - id: TDD
    allowed_tools: [write_files]
    gates: [{id: red, type: validation, blockers: [{check: tests_are_failing, message: RED}]}]
  - id: IMPL
    allowed_tools: [write_files]
    gates: [{id: green, type: validation, blockers: ${green}}]
  - {id: DONE, allowed_tools: []}
commands: {tests: {run: "sleep ${sleep}; node --test tests/", format: node, timeout_seconds: 60}}
`,
  )
  makeRepository(place.workspace, { 'src/old.mjs': 'export const old = () => 1\n', ...files })
  return { place, contract }
}

/** Processes whose command line holds this word: the launcher of the test command, its shell, itself. */
export function runningWith(word: string): readonly { readonly pid: string; readonly line: string }[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const line = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : ''
      return line.includes(word) ? [{ pid, line: line.replaceAll('\0', ' ').trim() }] : []
    } catch {
      return []
    }
  })
}
