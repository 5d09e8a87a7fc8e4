import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { built, Place } from './program.js'

beforeAll(built)
const place = new Place()

function project(name: string): string {
  const dir = join(place.home, name)
  mkdirSync(dir)
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ name, scripts: { test: 'node --test' } }))
  return dir
}

test('[REQ-DOC-13] init --template documents writes a workflow that loads, once, and never through a link', async () => {
  const cwd = project('fresh')
  expect(await place.run(['init', '--template', 'documents', '--yes', '--no-trial'], { cwd })).toMatchObject({
    code: 0,
  })
  expect(readFileSync(join(cwd, 'agent_workflow/metadata.yaml'), 'utf8')).toContain('run: npm test')
  expect((await place.run(['validate'], { cwd })).stdout).toContain(
    'agent_workflow: ok, test-generation 1.0 with 8 phases',
  )
  expect(await place.run(['init', '--template', 'documents', '--yes', '--no-trial'], { cwd })).toMatchObject({
    code: 1,
  })
  const linked = project('linked')
  const outside = project('outside')
  symlinkSync(outside, join(linked, 'agent_workflow'))
  expect(await place.run(['init', '--template', 'documents', '--force', '--no-trial'], { cwd: linked })).toMatchObject({
    code: 0,
  })
  expect(existsSync(join(outside, 'metadata.yaml'))).toBe(false)
})

test('[REQ-DOC-13] explain shows each field at the line of the document that demands it', async () => {
  const { stdout } = await place.run(['explain', 'test-generation'], { cwd: place.home })
  expect(stdout).toMatch(/evidence framework: string .*\(\S+test-generation\/phases\/4\/phase\.md:12\)/)
  expect(stdout).toMatch(/Phase 6 .*\(\S+phases\/6\/phase\.md:7\)/)
  expect(stdout).toContain('tasks task-1, task-2, task-3')
})

test('[REQ-DOC-13] lint prints one line per problem, for one document or all, and fails on errors', async () => {
  const cwd = project('linted')
  await place.run(['init', '--template', 'documents', '--yes', '--no-trial'], { cwd })
  expect(await place.run(['lint'], { cwd })).toMatchObject({ code: 0, stdout: '' })
  const document = join(cwd, 'agent_workflow/phases/2/phase.md')
  writeFileSync(document, readFileSync(document, 'utf8').replace('at least 3 entries', 'at least: 100%, or so'))
  const line = 'agent_workflow/phases/2/phase.md:14:4: error unknown_validator: behaviours: '
  const all = await place.run(['lint'], { cwd })
  expect(all.code).toBe(1)
  expect(all.stdout.split('\n')[0]?.startsWith(line)).toBe(true)
  expect(all.stdout.trimEnd().split('\n')).toHaveLength(1)
  expect(await place.run(['lint', 'agent_workflow/phases/2/phase.md'], { cwd })).toMatchObject({ code: 1 })
  expect(await place.run(['lint', 'agent_workflow/phases/3/phase.md'], { cwd })).toMatchObject({ code: 0, stdout: '' })
  const github = await place.run(['lint', '--format', 'github'], { cwd })
  expect(github.stdout).toMatch(
    /^::error file=agent_workflow\/phases\/2\/phase\.md,line=14,col=4,title=unknown_validator::behaviours: .*100%25/,
  )
  const json = await place.run(['lint', '--json'], { cwd })
  expect(JSON.parse(json.stdout)).toMatchObject({ errors: 1, diagnostics: [{ code: 'unknown_validator', line: 14 }] })
})
