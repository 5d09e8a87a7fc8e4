import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT, sectionsOf } from './blocks.js'
import { type DocsServer, startServer } from './server.js'

const sections = sectionsOf('docs/operate.md')
let server: DocsServer

beforeAll(async () => {
  server = await startServer()
})
afterAll(async () => {
  await server?.stop()
})

test('every option of serve is documented, and every documented option exists', () => {
  const help = execFileSync(join(ROOT, 'bin/phaselock'), ['serve', '--help'], { encoding: 'utf8' })
  const real = [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, name]) => name)
  const documented = firstColumn('Start').flatMap((cell) =>
    [...cell.matchAll(/`(--[a-z-]+)`/g)].map(([, name]) => name),
  )
  expect(documented.sort()).toEqual(real.filter((name) => name !== '--help').sort())
})

test('every file of the state directory is documented, and every documented file is there', () => {
  const documented = firstColumn('The state directory').flatMap((cell) =>
    [...cell.matchAll(/`([\w.-]+)`/g)].map(([, name]) => name),
  )
  expect(documented.sort()).toEqual(readdirSync(server.stateDir).sort())
})

function firstColumn(heading: string): readonly string[] {
  const rows = (sections.get(heading) ?? '').split('\n').filter((line) => line.startsWith('| `'))
  return rows.map((line) => line.split('|')[1] ?? '')
}
