import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { formatText } from '../../src/contract/format-diagnostics.js'
import { loadContractText } from '../../src/contract/load/load-contract.js'
import { cpuMs } from '../cpu-time.js'
import { depth } from '../depth.js'
import { formatErrors } from './format-schema.js'
import { HEAD } from './load.js'

const CASES = depth(6, 200)
const GOOD = ['tdd.yaml', 'plan-review.yaml'].map((name) =>
  readFileSync(new URL(`../../contracts/${name}`, import.meta.url), 'utf8'),
)
GOOD.push(readFileSync(new URL('../cases/everything.yaml', import.meta.url), 'utf8'))

async function answers(text: string): Promise<void> {
  const result = await loadContractText(text, { file: 'f.yaml', baseDir: null })
  const all = result.ok ? result.warnings : result.diagnostics
  if (!result.ok) expect(all.some((d) => d.severity === 'error')).toBe(true)
  for (const d of all)
    expect([d.line > 0, d.column > 0, d.message !== '', d.remedy !== '']).toEqual([true, true, true, true])
  expect(typeof formatText(all)).toBe('string')
}

describe('hostile texts', () => {
  it('[REQ-CONTRACT-7] no text makes the loader throw', async () => {
    await fc.assert(fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 300 }), answers), { numRuns: CASES })
  })

  it('[REQ-CONTRACT-7] no YAML of arbitrary values makes the loader throw', async () => {
    const keys = fc.constantFrom(
      'name',
      'phases',
      'nodes',
      'id',
      'gates',
      'rules',
      'type',
      'transitions',
      'schemas',
      '__proto__',
      'x-a',
    )
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.jsonValue({ maxDepth: 1 }),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(keys, tie('tree'), { maxKeys: 5 }),
      ),
    }))
    await fc.assert(
      fc.asyncProperty(tree, async (value) => answers(JSON.stringify(value) ?? '')),
      { numRuns: CASES },
    )
  })

  it('[REQ-CONTRACT-7] no good contract with one value replaced makes the loader throw', async () => {
    const value = fc.constantFrom<unknown>(
      null,
      0,
      -1,
      1.5,
      '',
      'x',
      true,
      [],
      {},
      [[]],
      [null],
      { a: 1 },
      '(?=a)',
      'A'.repeat(70),
    )
    const which = fc.constantFrom(...GOOD)
    await fc.assert(
      fc.asyncProperty(which, fc.nat(), value, async (text, at, replacement) => {
        const document = parse(text) as object
        const places = placesIn(document)
        const place = places[at % places.length]
        if (place !== undefined) Reflect.set(place.holder, place.key, replacement)
        await answers(stringify(document, { aliasDuplicateObjects: false }))
      }),
      { numRuns: CASES },
    )
  })

  it('[REQ-CONTRACT-2] what the published JSON Schema refuses in a changed contract does not load', async () => {
    const value = fc.constantFrom<unknown>(
      null,
      0,
      -1,
      1.5,
      '',
      'x',
      true,
      [],
      {},
      [[]],
      ['x'],
      { a: 1 },
      'approval',
      'none',
    )
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...GOOD), fc.nat(), value, async (text, at, replacement) => {
        const document = parse(text) as object
        const places = placesIn(document)
        const place = places[at % places.length]
        if (place !== undefined) Reflect.set(place.holder, place.key, replacement)
        const errors = formatErrors(document)
        const result = await loadContractText(JSON.stringify(document), { file: 'f.json', baseDir: null })
        if (errors.length > 0)
          expect(result.ok, `${place?.key} = ${JSON.stringify(replacement)}: ${errors.join(', ')}`).toBe(false)
      }),
      { numRuns: CASES },
    )
  })

  it('[REQ-CONTRACT-7] no good contract with a piece cut out makes the loader throw', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...GOOD), fc.nat(), fc.nat(200), async (text, at, length) => {
        const start = at % text.length
        await answers(text.slice(0, start) + text.slice(start + length))
      }),
      { numRuns: CASES },
    )
  })

  it.each([
    ['brackets', `name: ${'['.repeat(500_000)}`],
    ['braces', '{a: '.repeat(200_000)],
    ['dashes', '- '.repeat(300_000)],
    ['question marks', '? '.repeat(300_000)],
    ['columns', Array.from({ length: 1000 }, (_, n) => `${' '.repeat(n)}a:`).join('\n')],
    ['keys', Array.from({ length: 80_000 }, (_, n) => `k${n}: 1`).join('\n')],
    ['unknown keys', Array.from({ length: 1000 }, (_, n) => `k${n}: 1`).join('\n')],
    [
      'phases',
      `${HEAD}phases:\n${Array.from({ length: 1000 }, (_, n) => `  - {id: p${n}, prompt: "{{task.title}}"}`).join('\n')}\n`,
    ],
    ['placeholders', `${HEAD}phases: [{id: A, prompt: "${'{{'.repeat(100_000)}"}]`],
    ['a self-holding alias', `${HEAD}phases: &a [*a]\n`],
  ])('[REQ-CONTRACT-7] many %s are answered in bounded time', async (_name, text) => {
    const start = cpuMs()
    await answers(text)
    expect(cpuMs() - start).toBeLessThan(10_000)
  })
})

function placesIn(value: object): { holder: object; key: string }[] {
  return Object.entries(value).flatMap(([key, member]) => [
    { holder: value, key },
    ...(typeof member === 'object' && member !== null ? placesIn(member as object) : []),
  ])
}
