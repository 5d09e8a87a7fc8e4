import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/json.js'
import { boundData } from '../../src/store/redaction/bound-data.js'
import { makeCleaner } from '../../src/store/redaction/clean-data.js'
import { makeRedactor } from '../../src/store/redaction/redact.js'
import { depth } from '../depth.js'

const SECRET = 's3cr3t "quoted" \\ value \n with é'
const cleaner = makeCleaner([SECRET])
const slow = (data: JsonObject) => boundData(makeRedactor([SECRET])(data) as JsonObject)

const PLANTED = [
  SECRET,
  `eyJ${'a'.repeat(20)}.${'b'.repeat(20)}.cc`,
  `plop_${'x1'.repeat(20)}`,
  `ghp_${'A1'.repeat(15)}`,
  'AKIAABCDEFGHIJKLMNOP',
  `sk-ant-${'a1'.repeat(12)}`,
  'https://user:hunter22@example.test/x',
  'Authorization: Basic dXNlcjpwYXNzd29yZA==',
  'Bearer abcdefghijklmnop1234',
  'DB_PASS=hunter2',
  '--api-key=abc123',
  '{"password": "hunter2"}',
  '{\\"token\\": \\"hunter2\\"}',
  'secret_key_base: abcdef1234',
  'PRIVATE_TOKEN_: abcdefgh1',
  '-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----',
  `github_pat_${'a1'.repeat(12)}`,
  `xoxb-${'1a'.repeat(8)}`,
  `hf_${'aB'.repeat(16)}`,
  `npm_${'aB'.repeat(18)}`,
]
const NAMES = [
  'password',
  'apiKey',
  'auth_token',
  'x',
  'path',
  'PAT',
  'db_pwd',
  'key_base',
  'session-key',
  'passed',
  'codebase',
  'tokens',
]

const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.constantFrom(...PLANTED),
  fc
    .tuple(fc.string({ maxLength: 8 }), fc.constantFrom(...PLANTED), fc.string({ maxLength: 8 }))
    .map((parts) => parts.join('')),
)
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...NAMES), fc.string({ maxLength: 6 })), tie('value'), { maxKeys: 4 }),
  ),
}))

describe('cleaning in one look', () => {
  it('[REQ-LEDGER-22] gives exactly what redacting and bounding give, whatever the data', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.oneof(fc.constantFrom(...NAMES), fc.string({ maxLength: 6 })), value, { maxKeys: 5 }),
        (given) => {
          const data = JSON.parse(JSON.stringify(given)) as JsonObject
          const { data: cleaned, text: json, isChanged } = cleaner.clean(data)
          expect(cleaned).toEqual(slow(data))
          expect(json).toBe(JSON.stringify(cleaned))
          if (!isChanged) expect(cleaned).toBe(data)
        },
      ),
      { numRuns: depth(1500, 5000) },
    )
  })

  it.each(PLANTED)('[REQ-LEDGER-22] %j does not get past the look', (secret) => {
    expect(cleaner.clean({ note: `before\n${secret}\nafter` }).isChanged).toBe(true)
    expect(JSON.stringify(cleaner.clean({ note: `before\n${secret}\nafter` }).data)).toContain('[redacted]')
  })

  it('[REQ-LEDGER-23] what is long or deep is cut as ever', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(70)}1${'}'.repeat(70)}`) as JsonObject
    expect(cleaner.clean(deep).data).toEqual(slow(deep))
    const long = { a: 'x'.repeat(20_000) }
    expect(cleaner.clean(long).data).toEqual(slow(long))
  })

  it('[REQ-LEDGER-22] an ordinary tool call is done with one look', () => {
    const call = {
      tool_name: 'read_files',
      args: { path: 'src/main.ts', offset: 0, limit: 200 },
      agent_id: 'coder-1',
      success: true,
      task: 'task-517875087bb8',
    }
    expect(cleaner.clean(call).isChanged).toBe(false)
  })
})
