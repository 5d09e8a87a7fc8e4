import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Files } from './projects.js'
import type { Walker } from './walker.js'
import { INVENTED_GREEN, INVENTED_RED, implementation, REVIEW } from './walker.js'

type Artifacts = Record<string, unknown>
type Call = readonly [tool: string, args: Record<string, unknown>]

/** What an agent does in one phase: first what must be refused, then what is right. */
export interface Leg {
  readonly phase: string
  readonly to: string
  /** Paths that can be written neither by a tool nor by a command. */
  readonly closed: readonly string[]
  /** Handed in before anything was done, and the checks that refuse it. */
  readonly invented?: { readonly hands: Artifacts; readonly checks: readonly string[] }
  /** Work that the phase permits and its gate refuses; `does` mends it. */
  readonly spoiled?: readonly { readonly does: readonly Call[]; readonly checks: readonly string[] }[]
  readonly does?: readonly Call[]
  /** What a person does beside the agent. */
  readonly byHand?: (agent: Walker, tree: string) => Promise<void>
  readonly hands: Artifacts
  /** A person approves it. */
  readonly isApproved?: true
}

export interface Story {
  readonly contract: string
  readonly legs: readonly Leg[]
  /** More of the task. */
  readonly task?: Record<string, unknown>
  /** What the commit holds; null: nothing is committed. */
  readonly committed: readonly string[] | null
}

const HEAD = "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\n"
const CART =
  'export function total(items) {\n  let sum = 0\n  for (const item of items) sum += item.price\n  return sum\n}\n'
const FIXED = CART.replace('item.price\n', 'item.price - (item.discount ?? 0)\n')
const DISCOUNT = `${HEAD}import { total } from '../src/cart.js'\n\ntest('a discount lowers the total', () => assert.equal(total([{ price: 5, discount: 2 }]), 3))\n`
const PACKAGE = {
  ...{ name: 'carts', version: '1.0.0', private: true, type: 'module' },
  scripts: {
    test: 'node --test',
    coverage:
      'mkdir -p coverage && node --test --experimental-test-coverage --test-reporter=lcov --test-reporter-destination=coverage/lcov.info',
  },
  dependencies: { pad: '1.0.0' },
}
const formatPackage = (more: Record<string, unknown>): string => `${JSON.stringify({ ...PACKAGE, ...more }, null, 2)}\n`

export const CARTS: Files = {
  'package.json': formatPackage({}),
  '.gitignore': 'node_modules/\ncoverage/\n',
  'CHANGELOG.md': '# Changes\n\n## 1.0.0\n\n- Carts have a total\n',
  'src/cart.js': CART,
  'src/parse.js': 'export const parse = (text) => eval(text)\n',
  'tests/cart.test.js': `${HEAD}import { total } from '../src/cart.js'\n\ntest('prices are summed up', () => assert.equal(total([{ price: 5 }, { price: 7 }]), 12))\n`,
  'tests/pad.test.js': `${HEAD}import { pad } from 'pad'\n\ntest('numbers are padded', () => assert.equal(pad(5), ' 5'))\n`,
}

/** A package as `npm install` would leave it. */
export function installPad(tree: string, version: string, code = "' ' + text"): void {
  const dir = join(tree, 'node_modules/pad')
  mkdirSync(dir, { recursive: true })
  writeFileSync(
    join(dir, 'package.json'),
    JSON.stringify({ name: 'pad', version, type: 'module', exports: './pad.js' }),
  )
  writeFileSync(join(dir, 'pad.js'), `export const pad = (text) => ${code}\n`)
  writeFileSync(
    join(tree, 'node_modules/.package-lock.json'),
    JSON.stringify({ packages: { 'node_modules/pad': { version } } }),
  )
}

const write = (path: string, content: string): Call => ['write_files', { path, content }]
const CODE = 'src/early.js'
const OLD_TEST = 'tests/cart.test.js'
const changed = (...paths: readonly string[]) => implementation(...paths)
const done = (...files_changed: readonly string[]): Artifacts => ({
  completion_summary: { summary: 'It is done', files_changed, next_commands: ['git tag v1.1.0'] },
})
const covers = (path: string, id: string): Artifacts => ({ test_files: { test_files: [{ path, covers: [id] }] } })
const plan = (title: string, id = 'AC1') => ({
  plan_document: {
    title,
    acceptance_criteria: [{ id, criterion: 'It holds', how_to_verify: 'a unit test' }],
    implementation_steps: ['do it'],
    scope: { in_scope: ['src/cart.js'], out_of_scope: ['everything else'] },
  },
})
const review = (to = 'COMPLETE'): Leg => ({
  ...{ phase: 'REVIEW', to, closed: [CODE, OLD_TEST], isApproved: true, hands: REVIEW },
  invented: {
    hands: { review_report: { reviews: { self: { status: 'completed' } }, blocking_issues: ['it leaks'] } },
    checks: ['no_blocking_issues'],
  },
})
const complete = (...files: readonly string[]): Leg => ({
  ...{ phase: 'COMPLETE', to: 'COMPLETE', closed: [CODE, OLD_TEST], hands: done(...files) },
  invented: { hands: done(...files), checks: ['committed'] },
  does: [['git_commit', { message: 'What the task was about' }]],
})

const BUG = {
  title: 'The total ignores discounts',
  observed: 'total() is 5',
  expected: 'total() is 3',
  steps: ['call total() with a discount'],
}
const HOLLOW = `${HEAD}test('a discount lowers the total', () => assert.ok(process.pid > 0))\n`
const UNLOADED = `${HEAD}import { total } from '../src/discounts.js'\n\ntest('a discount', () => assert.equal(total(1), 3))\n`
const RED_TESTS: Leg['spoiled'] = [{ does: [write('tests/discount.test.js', HOLLOW)], checks: ['tests_are_failing'] }]
const GREEN: Leg['invented'] = {
  hands: { ...changed('src/cart.js'), ...INVENTED_GREEN },
  checks: ['all_tests_pass'],
}

const bugfix: Story = {
  contract: 'bugfix',
  committed: ['src/cart.js', 'tests/discount.test.js'],
  legs: [
    {
      ...{ phase: 'REPRODUCE', to: 'FIX', closed: ['src/cart.js', CODE] },
      invented: {
        hands: { bug_report: BUG, ...covers('tests/discount.test.js', 'discounts'), ...INVENTED_RED },
        checks: ['tests_are_meaningful', 'tests_are_failing', 'test_files_load'],
      },
      spoiled: [
        ...(RED_TESTS ?? []),
        { does: [write('tests/discount.test.js', UNLOADED)], checks: ['test_files_load'] },
      ],
      does: [write('tests/discount.test.js', DISCOUNT)],
      hands: { bug_report: BUG, ...covers('tests/discount.test.js', 'discounts') },
    },
    {
      ...{ phase: 'FIX', to: 'REVIEW', closed: [OLD_TEST, 'tests/discount.test.js'], invented: GREEN },
      does: [write('src/cart.js', FIXED)],
      hands: changed('src/cart.js'),
    },
    review(),
    complete('src/cart.js', 'tests/discount.test.js'),
  ],
}

const SUM = 'export function total(items) {\n  return items.reduce((sum, item) => sum + item.price, 0)\n}\n'
const UNTESTED = `${SUM}\nexport function unused(a) {\n  if (a) {\n    return 1\n  }\n  return 2\n}\n`

const refactor: Story = {
  contract: 'refactor',
  committed: ['src/cart.js'],
  legs: [
    {
      ...{ phase: 'PLAN', to: 'REFACTOR', closed: [CODE, OLD_TEST], isApproved: true },
      invented: { hands: INVENTED_GREEN, checks: ['plan_has_acceptance_criteria', 'scope_is_bounded'] },
      hands: plan('Sum up without a loop'),
    },
    {
      ...{ phase: 'REFACTOR', to: 'REVIEW', closed: [OLD_TEST, 'tests/more.test.js'] },
      invented: { hands: { ...changed('src/cart.js'), ...INVENTED_GREEN }, checks: ['expression'] },
      spoiled: [
        { does: [write('src/cart.js', SUM.replace(', 0)', ', 1)'))], checks: ['tests_not_worse'] },
        { does: [write('src/cart.js', UNTESTED)], checks: ['coverage_not_lower'] },
      ],
      does: [write('src/cart.js', SUM)],
      hands: changed('src/cart.js'),
    },
    review(),
    complete('src/cart.js'),
  ],
}

const smallChange: Story = {
  contract: 'small-change',
  committed: ['src/cart.js', 'tests/discount.test.js'],
  legs: [
    {
      ...{ phase: 'WORK', to: 'COMPLETE', closed: ['node_modules/pad/pad.js', '.env'], isApproved: true },
      invented: { hands: { ...changed('src/cart.js'), ...INVENTED_GREEN }, checks: ['expression'] },
      spoiled: [
        { does: [write('src/cart.js', 'export const total = () => 11\n')], checks: ['tests_not_worse'] },
        { does: [write('src/cart.js', FIXED), write(OLD_TEST, HOLLOW)], checks: ['tests_as_at_start'] },
        {
          does: [
            write(OLD_TEST, CARTS[OLD_TEST] ?? ''),
            ['write_files', { files: [1, 2, 3, 4, 5].map((n) => ({ path: `src/n${n}.js`, content: 'export {}\n' })) }],
          ],
          checks: ['expression'],
        },
      ],
      does: [['bash', { command: 'rm src/n?.js' }], write('tests/discount.test.js', DISCOUNT)],
      hands: changed('src/cart.js', 'tests/discount.test.js'),
    },
    complete('src/cart.js', 'tests/discount.test.js'),
  ],
}

const SPEC = {
  spec_document: {
    ...{ title: 'Carts have discounts', problem: 'Vouchers cannot be redeemed', out_of_scope: ['percent'] },
    requirements: [{ id: 'R1', requirement: 'A discount lowers the total', how_to_verify: 'a unit test' }],
  },
}
const TASKS = (...covered: readonly string[]): Artifacts => ({
  task_list: { tasks: [{ id: 'T1', title: 'Subtract the discount', covers: covered }] },
})
const worked = (status: string): Artifacts => ({
  work_report: {
    ...{ tasks: [{ id: 'T1', status }], summary: 'Discounts' },
    files_changed: [{ path: 'src/cart.js', change_type: 'modified' }],
  },
})

const specDriven: Story = {
  contract: 'spec-driven',
  committed: ['src/cart.js', 'tests/discount.test.js'],
  legs: [
    {
      ...{ phase: 'SPEC', to: 'PLAN', closed: [CODE, OLD_TEST], isApproved: true, hands: SPEC },
      invented: {
        hands: { spec_document: { ...SPEC.spec_document, open_questions: ['Which currency?'] } },
        checks: ['no_open_questions'],
      },
    },
    {
      ...{ phase: 'PLAN', to: 'TASKS', closed: [CODE, OLD_TEST], isApproved: true },
      invented: { hands: plan('Discounts in the total', 'AC9'), checks: ['expression'] },
      hands: plan('Discounts in the total', 'R1'),
    },
    {
      ...{ phase: 'TASKS', to: 'TDD', closed: [CODE, OLD_TEST], hands: TASKS('R1') },
      invented: { hands: TASKS('something else'), checks: ['expression'] },
    },
    {
      ...{ phase: 'TDD', to: 'IMPL', closed: ['src/cart.js', CODE] },
      invented: {
        hands: { ...covers('tests/discount.test.js', 'R1'), ...INVENTED_RED },
        checks: ['tests_exist_for_acceptance_criteria', 'tests_are_meaningful', 'tests_are_failing'],
      },
      spoiled: RED_TESTS,
      does: [write('tests/discount.test.js', DISCOUNT)],
      hands: covers('tests/discount.test.js', 'R1'),
    },
    {
      ...{ phase: 'IMPL', to: 'REVIEW', closed: [OLD_TEST, 'tests/discount.test.js'] },
      invented: {
        hands: { ...worked('open'), ...INVENTED_GREEN },
        checks: ['expression', 'all_tests_pass'],
      },
      does: [write('src/cart.js', FIXED)],
      hands: worked('done'),
    },
    review(),
    complete('src/cart.js', 'tests/discount.test.js'),
  ],
}

const documented = (quote: string): Artifacts => ({
  doc_changes: {
    files_changed: [{ path: 'docs/cart.md', change_type: 'created' }],
    summary: 'What a cart is',
    claims: [{ claim: 'total() takes items', path: 'src/cart.js', quote }],
  },
})

const docs: Story = {
  contract: 'docs',
  committed: ['docs/cart.md'],
  legs: [
    {
      ...{ phase: 'WRITE', to: 'REVIEW', closed: ['src/cart.js', OLD_TEST, 'package.json'] },
      invented: { hands: documented('export function total(items)'), checks: ['expression'] },
      spoiled: [],
      does: [write('docs/cart.md', '# Carts\n\n`total(items)` sums up the prices.\n')],
      hands: documented('export function total(items) {\n let sum = 0'),
    },
    review(),
    complete('docs/cart.md'),
  ],
}

const released = (version: string): Artifacts => ({
  release_plan: { version, previous_version: '1.0.0', changes: ['Nothing much'], breaking: [] },
})

const release: Story = {
  contract: 'release',
  committed: ['CHANGELOG.md', 'package.json'],
  legs: [
    {
      ...{ phase: 'CHECK', to: 'PREPARE', closed: ['package.json', OLD_TEST], isApproved: true },
      invented: { hands: { ...released('1.0.0'), ...INVENTED_GREEN }, checks: ['expression', 'all_tests_pass'] },
      hands: released('1.1.0'),
    },
    {
      ...{ phase: 'PREPARE', to: 'COMPLETE', closed: ['src/cart.js', OLD_TEST], isApproved: true },
      spoiled: [
        {
          does: [write('package.json', formatPackage({ version: '1.1.0' }))],
          checks: ['expression', 'all_tests_pass'],
        },
        {
          does: [
            write('CHANGELOG.md', '# Changes\n\n## 1.1.0\n\n- Nothing much\n'),
            write('package.json', formatPackage({ version: '1.1.0', scripts: { test: 'echo "# pass 9"' } })),
          ],
          checks: ['all_tests_pass'],
        },
      ],
      does: [write('package.json', formatPackage({ version: '1.1.0' }))],
      hands: changed('package.json', 'CHANGELOG.md'),
    },
    complete('package.json', 'CHANGELOG.md'),
  ],
}

const UPDATES = {
  updates: [{ package: 'pad', from: '1.0.0', to: '2.0.0', why: 'it is faster' }],
  install_command: 'npm install pad@2.0.0',
}

const dependencyUpdate: Story = {
  contract: 'dependency-update',
  committed: ['package.json'],
  legs: [
    {
      ...{ phase: 'PLAN', to: 'UPDATE', closed: ['package.json', OLD_TEST], isApproved: true },
      invented: {
        hands: { update_plan: { ...UPDATES, open_questions: ['Which one?'] }, ...INVENTED_GREEN },
        checks: ['no_open_questions', 'tests_not_worse'],
      },
      hands: { update_plan: UPDATES },
    },
    {
      ...{ phase: 'UPDATE', to: 'REVIEW', closed: [OLD_TEST, 'node_modules/pad/pad.js'] },
      invented: { hands: { ...changed('package.json'), ...INVENTED_GREEN }, checks: ['expression', 'tests_not_worse'] },
      does: [write('package.json', formatPackage({ dependencies: { pad: '2.0.0' } }))],
      byHand: async ({ server, task }, tree) => {
        installPad(tree, '2.0.0', 'String(text).padStart(2)')
        const accepted = await server.call('POST', `/tasks/${task}/tree/accept`, server.operator, {
          ...{ paths: ['node_modules'], reason: 'installed' },
        })
        if (accepted.status !== 200) throw new Error(JSON.stringify(accepted.body))
      },
      hands: changed('package.json'),
    },
    review(),
    complete('package.json'),
  ],
}

const AREA = { id: 'A1', result: 'finding', path: 'src/parse.js' }
const found = (quote: string, id = 'A1'): Artifacts => ({
  security_findings: {
    areas: [{ ...AREA, id, quote }],
    findings: [
      {
        ...{ id: 'F1', area: id, severity: 'high', title: 'Input is run as code', path: 'src/parse.js', quote },
        ...{ impact: 'who sends input runs code', fix: 'use JSON.parse' },
      },
    ],
  },
})

const securityReview: Story = {
  contract: 'security-review',
  committed: null,
  legs: [
    {
      ...{ phase: 'SCOPE', to: 'INSPECT', closed: [CODE, OLD_TEST], isApproved: true },
      hands: {
        review_scope: {
          ...{ title: 'Input of the parser', out_of_scope: ['the rest'] },
          areas: [{ id: 'A1', paths: ['src/parse.js'], question: 'Can input run code?' }],
        },
      },
    },
    {
      ...{ phase: 'INSPECT', to: 'REPORT', closed: ['src/parse.js', OLD_TEST] },
      invented: { hands: found('new Function(text)', 'A2'), checks: ['expression', 'quotes_hold'] },
      does: [['bash', { command: 'grep -n eval src/parse.js' }]],
      hands: found('(text) => eval(text)'),
    },
    {
      ...{ phase: 'REPORT', to: 'DONE', closed: ['src/parse.js'], isApproved: true },
      hands: { security_report: { summary: 'One way in', most_urgent: ['F1'], not_looked_at: ['the rest'] } },
    },
  ],
}

const answered = (...tried: readonly object[]): Artifacts => ({
  spike_report: { answer: 'Yes', confidence: 'high', tried, recommendation: 'Do it' },
})

const spike: Story = {
  contract: 'spike',
  committed: null,
  task: { worktree: true },
  legs: [
    {
      ...{ phase: 'QUESTION', to: 'EXPLORE', closed: [CODE, OLD_TEST] },
      hands: { spike_question: { question: 'Can carts have discounts?', decides: 'the next task' } },
    },
    {
      ...{ phase: 'EXPLORE', to: 'REPORT', closed: ['.git/config', '.env'] },
      invented: { hands: answered(), checks: ['expression'] },
      does: [write('src/cart.js', FIXED), write(CODE, 'export {}\n'), ['bash', { command: 'rm tests/pad.test.js' }]],
      hands: answered({ what: 'a discount', result: 'works' }),
    },
    { phase: 'REPORT', to: 'DONE', closed: [CODE], isApproved: true, hands: {} },
  ],
}

export const STORIES: readonly Story[] = [
  ...[bugfix, refactor, smallChange, specDriven, docs, release, dependencyUpdate, securityReview, spike],
]
