import { readFileSync } from 'node:fs'
import type { Files } from '../../e2e/projects.js'

const BUNDLED = new URL('../../../contracts/tdd.yaml', import.meta.url)

/** The bundled contract as a team would have changed it: a person reviews, and two alerts are raised. */
export function writeShopContract(version = '1.2'): string {
  const text = readFileSync(BUNDLED, 'utf8')
    .replace('name: tdd', 'name: shop-tdd')
    .replace('version: "1.0"', `version: "${version}"`)
    .replace('  - id: REVIEW\n', '  - id: REVIEW\n    review: { by: other }\n')
    .replace('  mode: strict\n', '  mode: strict\n  denial_budget: 5\n')
  return `${text}
monitoring:
  alerts:
    - { condition: task_stuck_in_phase, above_seconds: 7200, message: The task has been in one phase for two hours }
    - { condition: approval_waiting, above_seconds: 14400, message: An approval has waited for four hours }
`
}

const testOf = (path: string, names: string, cases: string): string => `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ${names} } from '../src/${path}'

${cases}`

export const SHOP: Files = {
  'package.json': `${JSON.stringify({ name: 'shop', type: 'module', private: true, scripts: { test: 'node --test' } }, null, 2)}\n`,
  'README.md': '# Shop\n\nPrices, invoices and logins of a small shop.\n',
  'src/billing/invoice.js': `import { add, round } from './math.js'

/** What the customer pays. */
export function total(invoice) {
  return invoice.lines.map(net).map(round).reduce(add, 0)
}

function net(line) {
  return line.price * line.quantity
}
`,
  'src/billing/math.js': `export const add = (a, b) => a + b

export const round = (value) => Math.round(value * 100) / 100
`,
  'src/auth/session.js': `// How long a session lives without being renewed.
export const LIFETIME_SECONDS = 60 * 60 * 12

export const session = {
  open: (account) => ({ account: account.id, endsIn: LIFETIME_SECONDS }),
}
`,
  'src/auth/login.js': `import { session } from './session.js'

/** Opens a session for a known account. */
export async function login(accounts, request) {
  const account = await accounts.find(request.email)
  if (!account) return { status: 401, code: 'unknown_account' }
  return { status: 200, session: session.open(account) }
}
`,
  'src/pricing/tariff.js': `export const tariffs = new Map([['standard', 100], ['reduced', 70]])

export const priceOf = (tariff) => tariffs.get(tariff)
`,
  'tests/tariff.test.js': testOf(
    'pricing/tariff.js',
    'priceOf',
    "test('the standard tariff has a price', () => assert.equal(priceOf('standard'), 100))\n",
  ),
}

/** One piece of work: what is planned, tested and written. */
export interface Work {
  readonly id: string
  readonly title: string
  readonly plan: Record<string, unknown>
  readonly test: { readonly path: string; readonly text: string; readonly covers: readonly string[] }
  readonly code: Files
  readonly summary: string
}

interface Criterion {
  readonly id: string
  readonly criterion: string
}

function planOf(title: string, criteria: readonly Criterion[], steps: readonly string[], scope: readonly string[][]) {
  return {
    title,
    acceptance_criteria: criteria.map((one) => ({ ...one, how_to_verify: 'unit tests' })),
    implementation_steps: steps,
    scope: { in_scope: scope[0], out_of_scope: scope[1] },
    open_questions: [],
  }
}

export const ROUNDING: Work = {
  id: 'invoice-rounding',
  title: 'Round invoice totals once, half to even',
  plan: planOf(
    'Invoice totals are rounded once, half to even',
    [
      { id: 'AC-1', criterion: 'Totals are rounded once, after the lines are summed.' },
      { id: 'AC-2', criterion: 'Half a cent goes to the even cent: 0.125 becomes 0.12, and 0.135 becomes 0.14.' },
      { id: 'AC-3', criterion: 'Credit notes round the same way as invoices.' },
    ],
    [
      'Add `roundHalfEven` in `src/billing/round.js`, on thousandths of a cent.',
      'Sum lines in `src/billing/invoice.js`, and round the sum.',
    ],
    [['`src/billing/**` and its tests'], ['How amounts are shown', 'Invoices that were already sent']],
  ),
  test: {
    path: 'tests/round.test.js',
    covers: ['AC-1', 'AC-2', 'AC-3'],
    text: `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { total } from '../src/billing/invoice.js'
import { roundHalfEven } from '../src/billing/round.js'

test('a total is rounded once, after the sum', () => {
  assert.equal(total({ lines: [{ price: 0.004, quantity: 1 }, { price: 0.004, quantity: 1 }] }), 0.01)
})

test('half a cent goes to the even cent', () => {
  assert.equal(roundHalfEven(0.125), 0.12)
  assert.equal(roundHalfEven(0.135), 0.14)
})

test('a credit note rounds like an invoice', () => {
  assert.equal(total({ lines: [{ price: -0.125, quantity: 1 }] }), -0.12)
})
`,
  },
  code: {
    'src/billing/round.js': `/** Rounds an amount to cents, half to even. */
export function roundHalfEven(amount) {
  const thousandths = Math.round(amount * 1000)
  const cents = Math.trunc(thousandths / 10)
  const rest = Math.abs(thousandths % 10)
  const isUp = rest > 5 || (rest === 5 && cents % 2 !== 0)
  return (cents + (isUp ? Math.sign(thousandths) : 0)) / 100
}
`,
    'src/billing/invoice.js': `import { add } from './math.js'
import { roundHalfEven } from './round.js'

/** What the customer pays. */
export function total(invoice) {
  return roundHalfEven(invoice.lines.map(net).reduce(add, 0))
}

function net(line) {
  return line.price * line.quantity
}
`,
    'src/billing/math.js': 'export const add = (a, b) => a + b\n',
  },
  summary: 'Totals are summed first and rounded once, half to even.',
}

/** What the agent changed after the first review. */
export const ROUNDING_AGAIN: Files = {
  'src/billing/round.js': `const HALF = 5

/** Rounds an amount to cents, half to even. Works on whole thousandths, because sums of floats lose cents. */
export function roundHalfEven(amount) {
  const thousandths = Math.round(amount * 1000)
  const cents = Math.trunc(thousandths / 10)
  const rest = Math.abs(thousandths % 10)
  const isUp = rest > HALF || (rest === HALF && cents % 2 !== 0)
  return (cents + (isUp ? Math.sign(thousandths) : 0)) / 100
}
`,
}

export const LIMIT: Work = {
  id: 'login-rate-limit',
  title: 'Limit failed logins per account and address',
  plan: planOf(
    'Failed logins are limited per account',
    [
      { id: 'AC-1', criterion: 'After five failed logins an account waits.' },
      { id: 'AC-2', criterion: 'A successful login clears the counter.' },
    ],
    ['Add `src/auth/limiter.js`.', 'Ask it in `src/auth/login.js` before the password is verified.'],
    [['`src/auth/**`'], ['Blocking of addresses in the proxy']],
  ),
  test: {
    path: 'tests/limiter.test.js',
    covers: ['AC-1', 'AC-2'],
    text: testOf(
      'auth/limiter.js',
      'createLimiter',
      `test('the sixth try has to wait', () => {
  const limiter = createLimiter(5)
  for (let tries = 0; tries < 5; tries += 1) limiter.fail('mara')
  assert.equal(limiter.check('mara'), 60)
})

test('a successful login clears the counter', () => {
  const limiter = createLimiter(1)
  limiter.fail('mara')
  limiter.clear('mara')
  assert.equal(limiter.check('mara'), 0)
})
`,
    ),
  },
  code: {
    'src/auth/limiter.js': `const WAIT_SECONDS = 60

/** Counts failed logins by account. */
export function createLimiter(triesMax) {
  const failed = new Map()
  return {
    fail: (account) => failed.set(account, (failed.get(account) ?? 0) + 1),
    check: (account) => ((failed.get(account) ?? 0) >= triesMax ? WAIT_SECONDS : 0),
    clear: () => undefined,
  }
}
`,
  },
  summary: 'Logins are counted by account.',
}

/** What makes its second test pass. */
export const LIMIT_MENDED: Files = {
  'src/auth/limiter.js': String(LIMIT.code['src/auth/limiter.js']).replace(
    'clear: () => undefined',
    'clear: (account) => failed.delete(account)',
  ),
}

/** A task that was finished on an earlier day. */
export const STOCK: Work = {
  id: 'stock-per-warehouse',
  title: 'Show stock per warehouse',
  plan: planOf(
    'Stock is shown per warehouse',
    [{ id: 'AC-1', criterion: 'The stock of an article is listed by warehouse.' }],
    ['Add `src/stock.js`.'],
    [['`src/stock.js`'], ['Reservations']],
  ),
  test: {
    path: 'tests/stock.test.js',
    covers: ['AC-1'],
    text: testOf(
      'stock.js',
      'stockOf',
      "test('stock is summed by warehouse', () => assert.deepEqual(stockOf([['north', 2], ['north', 1]]), { north: 3 }))\n",
    ),
  },
  code: {
    'src/stock.js': `export function stockOf(rows) {
  const stock = {}
  for (const [warehouse, count] of rows) stock[warehouse] = (stock[warehouse] ?? 0) + count
  return stock
}
`,
  },
  summary: 'stockOf() sums by warehouse.',
}

export const VAT: Work = {
  id: 'vat-ids',
  title: 'Check VAT ids against their country’s format',
  plan: planOf(
    'VAT ids are checked for their format',
    [{ id: 'AC-1', criterion: 'An id with a wrong format is refused.' }],
    ['Add `src/billing/vat.js`.'],
    [['`src/billing/vat.js`'], ['Asking the register']],
  ),
  test: {
    path: 'tests/vat.test.js',
    covers: ['AC-1'],
    text: testOf(
      'billing/vat.js',
      'isVatId',
      "test('a German id has nine digits', () => {\n  assert.equal(isVatId('DE123456789'), true)\n  assert.equal(isVatId('DE12'), false)\n})\n",
    ),
  },
  code: { 'src/billing/vat.js': 'export const isVatId = (id) => /^DE\\d{9}$/.test(id)\n' },
  summary: 'isVatId() knows the format.',
}

/** A small plan for a task that only has to wait. */
export function writePlan(title: string, criterion: string): Record<string, unknown> {
  return planOf(
    title,
    [{ id: 'AC-1', criterion }],
    ['Write the test.', 'Write the code.'],
    [['`src/**`'], ['The rest']],
  )
}
