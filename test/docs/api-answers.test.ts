import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Route } from '../../src/http/route.js'
import { ROUTES } from '../../src/http/routes/all.js'
import { ENDPOINTS } from '../garbage/endpoints.js'
import { Stage } from '../garbage/stage.js'
import { prepareRequest, sendRequest } from '../http/right-requests.js'
import { readDoc, sectionsOf } from './blocks.js'

const FILE = 'docs/api.md'
const sections = sectionsOf(FILE, 3)
/** Need a terminal that is shown, or nodes on PostgreSQL, which the tests of tmux and e2e/nodes have. */
const NOT_ASKED: ReadonlySet<string> = new Set(['agentScreen', 'adoptNode'])

/** Answers that are described in another place, by the words that lead there. */
const ELSEWHERE: readonly (readonly [RegExp, () => string])[] = [
  [/\bthe task\b/, () => lineWith('A task is `{')],
  [/\bthe approval\b/, () => answerLine('GET /approvals/{id}')],
  [/\bthe question\b/, () => lineWith('What an agent asked')],
  [/\bthe agent as\b/, () => answerLine('GET /agents/{id}')],
  [/also the fields that `POST \/tasks\/transition` answers/, () => answerLine('POST /tasks/transition')],
]

describe('the answers in docs/api.md', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await Stage.open()
  })
  afterAll(async () => {
    await stage.run.stop()
  })

  it.each(ROUTES.filter(({ id }) => !NOT_ASKED.has(id)).map((route) => [headingOf(route), route] as const))(
    '%s has the fields that are listed, and no others',
    async (heading, route) => {
      const lane = await prepareRequest(stage, route.id)
      const { status, body } = await sendRequest(stage, route, { pair: lane.pair, base: lane.base() })
      expect(status, JSON.stringify(body)).toBeLessThan(300)
      const line = answerLine(heading)
      const lines = [line, ...ELSEWHERE.filter(([words]) => words.test(line)).map(([, other]) => other())]
      const real = Object.keys(body)
      const listed = new Set(lines.flatMap(namesIn))
      expect(
        real.filter((name) => !listed.has(name)),
        `${heading}: fields that are not documented`,
      ).toEqual([])
      const forms = lines.flatMap(formsIn)
      const missing = forms.map((form) => form.filter((name) => !real.includes(name)))
      expect(
        forms.length === 0 || missing.some((names) => names.length === 0),
        `${heading}: no documented form fits ${real.join(', ')}; missing: ${missing.map(String).join(' | ')}`,
      ).toBe(true)
      // What the OpenAPI document says in words names the same fields.
      const isWhole = objectsIn(route.answer).length > 0 && !route.answer.includes('…')
      const told = isWhole ? new Set(namesIn(route.answer)) : listed
      expect(
        real.filter((name) => !told.has(name)),
        `${heading}: fields that the table of routes does not name`,
      ).toEqual([])
      await ENDPOINTS[route.id]?.after?.(stage)
    },
  )
})

function headingOf({ method, path }: Route): string {
  return `${method} ${path.replace(/:(\w+)/g, '{$1}')}`
}

function answerLine(heading: string): string {
  const [, line] = /^- Answer: (.*)$/m.exec(sections.get(heading) ?? '') ?? []
  if (line === undefined) throw new Error(`${heading} says nothing about its answer`)
  return line
}

function lineWith(words: string): string {
  const line = readDoc(FILE)
    .split('\n')
    .find((one) => one.startsWith(words))
  if (line === undefined) throw new Error(`no line of ${FILE} begins with ${words}`)
  return line
}

/** The fields of each `{…}`, without those marked with `?`. Members of members are not looked at. */
function formsIn(line: string): readonly (readonly string[])[] {
  return objectsIn(line).map((object) => fieldsOf(object).filter((name) => !name.endsWith('?')))
}

/** Every field that a line names. */
function namesIn(line: string): readonly string[] {
  const single = [...line.matchAll(/`(\w+)(?:: [^`]*)?`/g)].map(([, name]) => name ?? '')
  return [...single, ...objectsIn(line).flatMap(fieldsOf)].map((name) => name.replace('?', ''))
}

// Only what stands at the start of a code span: `merge: {…}` is one field, and not an answer.
function objectsIn(line: string): readonly string[] {
  return [...line.matchAll(/`\{([^`]*)\}`/g)].map(([, inner]) => inner ?? '')
}

function fieldsOf(inner: string): readonly string[] {
  let depth = 0
  let top = ''
  for (const char of inner) {
    if (char === '{' || char === '[') depth += 1
    if (depth === 0) top += char
    if (char === '}' || char === ']') depth -= 1
  }
  return top.split(',').flatMap((one) => /^\s*"?(\w+\??)/.exec(one)?.[1] ?? [])
}
