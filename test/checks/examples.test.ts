import { describe, expect, it } from 'vitest'
import { answerDifference, findDifference } from '../../src/checks/examples/compare.js'
import { encodeRequest, readAnswer } from '../../src/checks/examples/http-exchange.js'
import { readHeldOutExamples, readPlanExamples } from '../../src/checks/examples/read-examples.js'

const plan = (...examples: unknown[]) => ({ acceptance_criteria: [{ id: 'AC-1', examples }] }) as never
const problems = (...examples: unknown[]): string[] =>
  readPlanExamples(plan(...examples)).problems.map(({ pointer, message }) => `${pointer} ${message}`)
const expected = (expect: object) => {
  const [example] = readPlanExamples(plan({ run: 'x', expect })).examples
  if (example === undefined) throw new Error('the example cannot be read')
  return example.expect
}
const seen = (stdout: string, exitCode = 0, stderr = '') => ({ stdout, exitCode, stderr })

describe('examples of a plan', () => {
  it('[REQ-EXAMPLES-1] says which criterion, which example and which field is wrong, and the nearest name', () => {
    expect(problems({ run: 'x', expect: { exit_code: 0 } }, { run: 'x', expect: { stdut: '5' } })).toEqual([
      `/acceptance_criteria/0/examples/1/expect criterion AC-1, example 2: "stdut" is not known. Did you mean 'stdout'? Known: exit_code, stdout, stdout_json, matches, http`,
      '/acceptance_criteria/0/examples/1/expect criterion AC-1, example 2: expects nothing. Give one of exit_code, stdout, stdout_json, matches, http',
    ])
    expect(problems({ run: 'x', expect: {} })[0]).toMatch(/expects nothing/)
    expect(problems({ run: 'x' })[0]).toMatch(/\/expect criterion AC-1, example 1: is missing/)
    expect(problems({ expect: { exit_code: 0 } })[0]).toMatch(/\/run .*is missing/)
    expect(problems({ run: ' ', expect: { exit_code: 0 } })[0]).toMatch(/must be a command line/)
    expect(problems('node x')[0]).toMatch(/must be an object with run and expect/)
    expect(readPlanExamples({ acceptance_criteria: [{ examples: {} }] }).problems[0]?.message).toMatch(/must be a list/)
  })

  it('[REQ-EXAMPLES-1] bounds numbers and sizes, and refuses patterns that RE2 does not take', () => {
    const one = { run: 'x', expect: { exit_code: 0 } }
    expect(problems(...Array.from({ length: 51 }, () => one))).toEqual([
      '/acceptance_criteria there are 51 examples; at most 50 are run',
    ])
    expect(problems({ ...one, run: 'x'.repeat(4097) })[0]).toMatch(/longer than 4096 bytes/)
    expect(problems({ ...one, stdin: 'ä'.repeat(40_000) })[0]).toMatch(/longer than 65536 bytes/)
    expect(problems({ run: 'x', expect: { matches: '(a)\\1' } })[0]).toMatch(/is not an RE2 pattern/)
    expect(problems({ run: 'x', expect: { matches: 'a'.repeat(1001) } })[0]).toMatch(/longer than 1000/)
    expect(problems({ run: 'x', expect: { exit_code: 1.5 } })[0]).toMatch(/whole number from 0 to 255/)
    expect(problems({ run: 'x', expect: { stdout_json: 'a'.repeat(70_000) } })[0]).toMatch(/larger than/)
  })

  it('[REQ-EXAMPLES-1] of a server it takes a port, a path and nothing that makes no sense with it', () => {
    const http = { port: 3000, path: '/health' }
    expect(problems({ run: 'x', expect: { http } })).toEqual([])
    expect(problems({ run: 'x', expect: { http: { path: '/' } } })[0]).toMatch(/port .*is missing/)
    expect(problems({ run: 'x', expect: { http: { ...http, port: 80 } } })[0]).toMatch(/from 1024 to 65535/)
    expect(problems({ run: 'x', expect: { http: { ...http, path: '/a b\r\nx: y' } } })[0]).toMatch(/begin with \//)
    expect(problems({ run: 'x', expect: { http: { ...http, headers: { 'a\r\nb': 'c' } } } })[0]).toMatch(/header names/)
    expect(problems({ run: 'x', expect: { http: { ...http, headers: { Host: 'c' } } } })[0]).toMatch(/set by Phaselock/)
    expect(problems({ run: 'x', expect: { http, stdout: 'a' } })[0]).toMatch(/stdout cannot be expected of a server/)
    expect(problems({ run: 'x', stdin: 'a', expect: { http } })[0]).toMatch(/is not sent to a server/)
    expect(problems({ run: 'x', expect: { http: { ...http, methd: 'GET' } } })[0]).toMatch(/Did you mean 'method'/)
  })

  it('[REQ-EXAMPLES-4] held-out examples name their criterion, or none', () => {
    const read = readHeldOutExamples({
      examples: [
        { criterion: 'AC-1', run: 'x', expect: { exit_code: 1 } },
        { run: 'y', expect: { stdout: 'a' } },
      ],
    })
    expect(read.problems).toEqual([])
    expect(read.examples.map(({ criterion, number }) => [criterion, number])).toEqual([
      ['AC-1', 1],
      [null, 1],
    ])
    expect(readHeldOutExamples({ example: [] }).problems[0]?.message).toMatch(/Did you mean 'examples'/)
    expect(readHeldOutExamples([]).problems[0]?.message).toMatch(/must be an object/)
  })
})

describe('comparing', () => {
  it('[REQ-EXAMPLES-2] the exit code is 0 unless the example says otherwise', () => {
    expect(findDifference(expected({ stdout: '5' }), seen('5'))).toBeNull()
    expect(findDifference(expected({ stdout: '5' }), seen('5', 1, 'boom\n'))).toBe(
      'expected exit code 0, got 1. It wrote to stderr: "boom"',
    )
    expect(findDifference(expected({ exit_code: 2 }), seen('anything', 2))).toBeNull()
    expect(findDifference(expected({ exit_code: 2 }), seen(''))).toBe('expected exit code 2, got 0')
  })

  it('[REQ-EXAMPLES-2] stdout is compared exactly but for one line break at the end', () => {
    for (const stdout of ['5', '5\n', '5\r\n'])
      expect(findDifference(expected({ stdout: '5' }), seen(stdout))).toBeNull()
    for (const stdout of ['5\n\n', ' 5', '', '55'])
      expect(findDifference(expected({ stdout: '5' }), seen(stdout))).toBeTruthy()
    expect(findDifference(expected({ stdout: '' }), seen('x'))).toBe('expected stdout "", got "x"')
  })

  it('[REQ-EXAMPLES-2] stdout_json is compared as JSON, in any order of keys', () => {
    const json = expected({ stdout_json: { a: 1, b: [1, { c: null }] } })
    expect(findDifference(json, seen('{ "b": [1, {"c":null}], "a": 1.0 }\n'))).toBeNull()
    expect(findDifference(json, seen('{"a":1,"b":[{"c":null},1]}'))).toMatch(/^expected stdout to be the JSON/)
    expect(findDifference(json, seen('{"a":1}{"b":2}'))).toMatch(/expected stdout to be JSON, got/)
    expect(findDifference(expected({ stdout_json: null }), seen('null'))).toBeNull()
    expect(findDifference(expected({ stdout_json: null }), seen(''))).toBeTruthy()
  })

  it('[REQ-EXAMPLES-2] matches is looked for anywhere, and what is shown is bounded and printable', () => {
    expect(findDifference(expected({ matches: '^v\\d+' }), seen('v12 is out'))).toBeNull()
    const found = findDifference(expected({ matches: 'x' }), seen(`\u001b[31mred\u0007\u202e${'a'.repeat(9000)}`)) ?? ''
    expect(found.length).toBeLessThan(400)
    expect(/\p{Cc}|\u202e/u.test(found)).toBe(false)
    const start = performance.now()
    findDifference(expected({ matches: '(a|aa)+$' }), seen('a'.repeat(1_000_000)))
    expect(performance.now() - start).toBeLessThan(2000)
  })

  it('[REQ-EXAMPLES-3] what a server answered is read as HTTP, chunked or not', async () => {
    const { http } = expected({ http: { port: 3000, method: 'POST', path: '/a', body: { x: 1 }, json: { ok: true } } })
    if (http === null) throw new Error('no http')
    expect(encodeRequest(http)).toBe(
      'POST /a HTTP/1.1\r\nHost: 127.0.0.1:3000\r\nConnection: close\r\nAccept-Encoding: identity\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{"x":1}',
    )
    const read = (text: string) => readAnswer(Buffer.from(text).toString('base64'), http)
    const chunked = await read(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n{"ok":\r\n5\r\ntrue}\r\n0\r\n\r\n',
    )
    expect(chunked).toEqual({ status: 200, body: '{"ok":true}' })
    if (chunked === null) throw new Error('no answer')
    expect(answerDifference(http, chunked)).toBeNull()
    expect(answerDifference({ ...http, status: 201 }, chunked)).toMatch(/expected status 201, got 200/)
    expect(await read('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nshort')).toBeNull()
    expect(await read('not http')).toBeNull()
    expect(await read('')).toBeNull()
  })
})
