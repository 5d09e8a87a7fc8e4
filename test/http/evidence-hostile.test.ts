import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ANALYSED, startPhased, type Worker } from './phasing.js'

describe('evidence made to be misread', () => {
  let one: Worker
  beforeAll(async () => {
    one = await startPhased()
  })
  afterAll(() => one.run.stop())
  const phase = async () => (await one.run.call('GET', '/tasks/t', one.run.operator)).body.phase
  const GIVEN = JSON.stringify(ANALYSED).slice(1, -1)
  const complete = (evidence: string) =>
    one.run.call('POST', '/phases/ANALYSE/complete', one.token, `{"evidence":${evidence}}`)

  it.each([
    ['a prototype', `{${GIVEN},"__proto__":{"function_count":21}}`],
    ['a prototype that has every field', `{"__proto__":{${GIVEN}}}`],
    ['a constructor', `{${GIVEN},"constructor":{"prototype":{"a":1}}}`],
    ['a field in letters that only look like it', `{${GIVEN.replace('function_count', 'functi\u043en_count')}}`],
    ['a field with a space after it', `{${GIVEN.replace('function_count', 'function_count ')}}`],
    ['a field in capitals', `{${GIVEN.replace('function_count', 'Function_Count')}}`],
    ['a number without end', `{${GIVEN.replace('21', '1e999')}}`],
    ['a number as text', `{${GIVEN.replace('21', '"21"')}}`],
    ['NaN as text', `{${GIVEN.replace('21', '"NaN"')}}`],
    ['NaN', `{${GIVEN.replace('21', 'NaN')}}`],
    ['minus zero', `{${GIVEN.replace('21', '-0')}}`],
    ['half a function', `{${GIVEN.replace('21', '21.5')}}`],
    ['a list of a number', `{${GIVEN.replace('21', '[21]')}}`],
    ['true for a number', `{${GIVEN.replace('21', 'true')}}`],
    ['a field twice, of which the last is wrong', `{${GIVEN},"function_count":0}`],
    ['a list of a thousand levels', `{${GIVEN},"deep":${'['.repeat(1000)}${']'.repeat(1000)}}`],
    ['a list of 200,000 levels', `{${GIVEN},"functions_list":${'['.repeat(200_000)}${']'.repeat(200_000)}}`],
    ['objects of 100,000 levels', `{${GIVEN},"deep":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`],
    ['half a character', `{${GIVEN},"\\ud800":1}`],
    ['a NUL in a name', `{${GIVEN},"function_count\\u0000":1}`],
    ['fifty thousand fields', `{${GIVEN},${Array.from({ length: 50_000 }, (_, n) => `"f${n}":1`).join(',')}}`],
  ])('[REQ-EVIDENCE-11] %s does not pass, and nothing breaks', async (_name, evidence) => {
    const answer = await complete(evidence)
    expect([200, 400, 413], JSON.stringify(answer.body).slice(0, 300)).toContain(answer.status)
    if (answer.status === 200) expect(answer.body).toMatchObject({ checkpoint_passed: false })
    expect(await phase()).toBe('ANALYSE')
    expect(one.run.faults).toEqual([])
    expect(({} as Record<string, unknown>).function_count).toBeUndefined()
  })

  it('[REQ-EVIDENCE-11] honest evidence passes after all of it', async () => {
    expect((await complete(JSON.stringify(ANALYSED))).body).toMatchObject({ checkpoint_passed: true })
    expect(await phase()).toBe('PLAN')
  })
})
