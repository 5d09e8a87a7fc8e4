import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT, sectionsOf } from './blocks.js'
import { type DocsServer, startServer } from './server.js'

const sections = sectionsOf('docs/operate.md')
// There only while a command runs or the wall is tried.
const PASSING = /^(start|probe)-/
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

test('every command is documented, and every documented command exists', () => {
  const help = execFileSync(join(ROOT, 'bin/phaselock'), ['--help', '--all'], { encoding: 'utf8' })
  const listed = help.slice(help.indexOf('Start:'), help.indexOf('Examples:'))
  const real = [...listed.matchAll(/^ {2}([a-z]+)(?:\|[a-z]+)?(?= )/gm)].map(([, name]) => name)
  const documented = firstColumn('The command line').flatMap((cell) =>
    [...cell.matchAll(/`([a-z]+)`/g)].map(([, name]) => name),
  )
  expect(documented.sort()).toEqual(real.filter((name) => name !== 'help').sort())
})

test.each(['task', 'audit', 'agent', 'operator', 'secret'])('every command below %s is documented', (group) => {
  const help = execFileSync(join(ROOT, 'bin/phaselock'), [group, '--help'], { encoding: 'utf8' })
  const listed = help.slice(help.indexOf('Commands:'))
  const real = [...listed.matchAll(/^ {2}([a-z-]+)(?:\|[a-z]+)?(?= )/gm)].map(([, name]) => name ?? '')
  const row = (sections.get('The command line') ?? '').split('\n').find((line) => line.includes(`\`${group}\``)) ?? ''
  const documented = [...(row.split('|')[2] ?? '').matchAll(/`([a-z-]+)`/g)].map(([, name]) => name)
  expect(documented.sort()).toEqual(real.filter((name) => name !== 'help' && name !== 'phaselock').sort())
})

/** Files that only a server with an option makes: `--shared-trees`. */
const WITH_OPTIONS = ['shared-trees.json']

test('every file of the state directory is documented, and every documented file is there', () => {
  const documented = firstColumn('The state directory').flatMap((cell) =>
    [...cell.matchAll(/`([\w.-]+)`/g)].map(([, name]) => name),
  )
  const there = readdirSync(server.stateDir).filter((name) => !PASSING.test(name))
  expect(documented).toEqual(expect.arrayContaining(WITH_OPTIONS))
  expect(documented.filter((name) => !WITH_OPTIONS.includes(name ?? '')).sort()).toEqual(there.sort())
})

function firstColumn(heading: string): readonly string[] {
  const rows = (sections.get(heading) ?? '').split('\n').filter((line) => line.startsWith('| `'))
  return rows.map((line) => line.split('|')[1] ?? '')
}
