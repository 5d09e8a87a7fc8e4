import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CODES, type Code } from '../../src/core/codes.js'
import { getStatus } from '../../src/http/problem.js'
import { ROOT, sectionsOf } from './blocks.js'

const BLOCKER_STATUS = '200, blocker'
const NO_STATUS = 409
const sections = sectionsOf('docs/errors.md')
const PROGRAM = sourceOf('src').join('\n')

test('every code has a heading, and every heading is a code, in the order of the table', () => {
  expect([...sections.keys()]).toEqual(Object.keys(CODES))
})

test.each(Object.entries(CODES))('%s is documented with the title and the remedy of the table', (code, words) => {
  const body = sections.get(code) ?? ''
  expect(fieldOf(body, 'Title')).toBe(words.title)
  expect(fieldOf(body, 'Remedy')).toBe(words.remedy)
  expect(fieldOf(body, 'Example')).toMatch(/^`.+`$/)
})

test.each(Object.keys(CODES) as Code[])('%s is documented with the status that the server gives it', (code) => {
  const status = fieldOf(sections.get(code) ?? '', 'Status')
  if (status === BLOCKER_STATUS) expect(getStatus(code)).toBe(NO_STATUS)
  else expect(status).toBe(String(getStatus(code)))
})

test.each([...sections])('%s says in words what it means', (_, body) => {
  const prose = body.split('\n').filter((line) => line !== '' && !line.startsWith('- '))
  expect(prose.join(' ').length).toBeGreaterThan(30)
})

test.each([...sections])('%s is said to be unused only if no part of the program gives it', (code, body) => {
  expect(/not used in this version/i.test(body)).toBe(!PROGRAM.includes(`'${code}'`) && !PROGRAM.includes(`"${code}"`))
})

function fieldOf(body: string, name: string): string | undefined {
  return new RegExp(`^- ${name}: (.+)$`, 'm').exec(body)?.[1]
}

/** Every file of the program but the table of codes and that of their statuses. */
function sourceOf(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && name !== 'core/codes.ts' && name !== 'http/problem.ts')
    .map((name) => readFileSync(join(ROOT, folder, name), 'utf8'))
}
