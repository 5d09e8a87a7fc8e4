import { describe, expect, test } from 'vitest'
import type { Json } from '../../src/core/json.js'
import { makeRedactor } from '../../src/store/redaction/redact.js'
import { cpuMs } from '../cpu-time.js'

const redact = makeRedactor([])
const R = '[redacted]'
// Put together at run time, so that no scanner takes this file for a leak.
const join = (...parts: string[]) => parts.join('')
const HEX = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'
const JWT = join('eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiJhZGEifQ', '.c2lnbmF0dXJlLWJ5dGVz')
const PEM = join('-----BEGIN RSA PRIVATE', ' KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE', ' KEY-----')

describe('REQ-LEDGER-22 a secret is taken out of a text', () => {
  const cases: [string, string, string][] = [
    ['a JWT', `token is ${JWT}.`, `token is ${R}.`],
    ['an operator token', join('use plo', 'p_abcdefghijklmnop0123 now'), `use ${R} now`],
    ['a GitHub token', join('gh', 'p_abcdefghijklmnopqrstuvwxyz0123456789'), R],
    ['a fine-grained GitHub token', join('github', '_pat_11ABCDEFG0abcdefghijkl_mnop'), R],
    ['an AWS key id', join('id AKI', 'AIOSFODNN7EXAMPLE here'), `id ${R} here`],
    ['an AWS secret by its name', 'AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY', `AWS_SECRET_ACCESS_KEY=${R}`],
    ['a Slack token', join('xox', 'b-123456789012-abcdefGHIJ'), R],
    ['an OpenAI key', join('sk', '-proj-abc123def456ghi789jkl0'), R],
    ['an Anthropic key', join('sk', '-ant-api03-abcdefghijklmnop'), R],
    ['a Google key', join('AIz', 'aSyA1234567890abcdefghijklmnopqrstuv'), R],
    ['a PEM private key', `before\n${PEM}\nafter`, `before\n${R}\nafter`],
    ['a PEM private key without its end', PEM.slice(0, 50), R],
    ['an authorization header', 'Authorization: Bearer abc\nnext', `Authorization: ${R}\nnext`],
    ['an authorization header of curl', `curl -H 'authorization: token abc' x`, `curl -H 'authorization: ${R}' x`],
    ['a bearer value alone', 'sent Bearer abcdef0123456789abcd', `sent Bearer ${R}`],
    ['a basic value alone', 'Basic dXNlcjpwYXNzd29yZDEyMw==', `Basic ${R}`],
    ['a password in a URL', 'postgres://ada:hunter2@db/x', `postgres://${R}@db/x`],
    ['an assignment', 'DB_PASSWORD=hunter2 npm test', `DB_PASSWORD=${R} npm test`],
    ['a quoted assignment', `export API_KEY="a b c"; ls`, `export API_KEY=${R}; ls`],
    ['a flag', '--token=abc123 run', `--token=${R} run`],
    ['a query parameter', 'GET /x?access_token=abc&page=2', `GET /x?access_token=${R}&page=2`],
    ['a JSON field in a text', '{"client_secret": "abc", "n": 1}', `{"client_secret": "${R}", "n": 1}`],
    ['a YAML field', 'db:\n  password: hunter2x\n  port: 1', `db:\n  password: ${R}\n  port: 1`],
  ]
  for (const [name, text, expected] of cases) {
    test(name, () => expect(redact(text)).toBe(expected))
  }
})

describe('REQ-LEDGER-22 what is not secret stays', () => {
  const texts = [
    HEX,
    `sha256 ${HEX} and commit da39a3ee5e6b4b0d3255bfef95601890afd80709`,
    'The basic requirements of the bearer were met; a token is spent once.',
    'max_tokens=4096 input_tokens=12 PWD=/home/ada/project token_count=3',
    'const token = verifyToken(text)',
    '  token: string',
    'if (password === undefined) return',
    'https://example.com/a:b@c and http://localhost:8000/tasks/1?limit=5',
    'src/store/task-list-with-many-words-in-it.ts sk-learn',
    'phase: PLAN\nstatus: active2024',
    '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
  ]
  for (const text of texts) test(text.slice(0, 60), () => expect(redact(text)).toBe(text))
})

test('REQ-LEDGER-22 fields named like secrets lose their texts, not their counts and flags', () => {
  const value: Json = {
    password: 'x',
    apiKey: 'x',
    'X-Api-Key': 'x',
    phase_token: 'x',
    credentials: { user: 'ada', tries: 2, list: ['a'] },
    token: '',
    secret: true,
    max_tokens: 'many',
    usage: { input_tokens: 5, output_tokens: 6 },
    public_key: 'k',
    key: 'k',
    pass: 'yes',
  }
  expect(redact(value)).toEqual({
    password: R,
    apiKey: R,
    'X-Api-Key': R,
    phase_token: R,
    credentials: { user: R, tries: 2, list: [R] },
    token: '',
    secret: true,
    max_tokens: 'many',
    usage: { input_tokens: 5, output_tokens: 6 },
    public_key: 'k',
    key: 'k',
    pass: 'yes',
  })
})

test('REQ-LEDGER-22 given secrets are found anywhere, also encoded and as field names', () => {
  const secret = 'correct horse/battery'
  const mine = makeRedactor([secret, 'abc', ''])
  const value = {
    text: `a ${secret} b`,
    url: `x?p=${encodeURIComponent(secret)}`,
    encoded: Buffer.from(secret).toString('base64'),
    list: [[`${secret}${secret}`]],
    [secret]: 1,
    short: 'abc',
  }
  expect(mine(value)).toEqual({
    text: `a ${R} b`,
    url: `x?p=${R}`,
    encoded: R,
    list: [[`${R}${R}`]],
    [R]: 1,
    short: 'abc',
  })
})

test('REQ-LEDGER-22 redacting changes nothing of its input and is stable', () => {
  const value = Object.freeze({ text: `key ${JWT}`, n: null, ['__proto__']: 'x' })
  const once = redact(value)
  expect(value.text).toContain(JWT)
  expect(redact(once)).toEqual(once)
})

test('REQ-LEDGER-22 long hostile texts take time in proportion to their length', () => {
  const hostile = [
    'eyJ',
    'a-',
    'x:',
    '"a',
    'Bearer ',
    'sk-',
    'a://b:',
    '-----BEGIN PRIVATE KEY-----',
    'token=',
    'password: ',
    'authorization:',
    ' ',
    '=',
  ]
  for (const piece of hostile) {
    const text = piece.repeat(Math.ceil(200_000 / piece.length))
    const start = cpuMs()
    redact(text)
    expect([piece, cpuMs() - start < 2_000]).toEqual([piece, true])
  }
})
