import type { Page } from '../browser.js'
import type { Shop } from './shop-scene.js'

/** One look at the dashboard: a page in one of its states. */
export interface View {
  readonly name: string
  readonly path: string
  /** What is done on the page before it is looked at. */
  readonly prepare?: (page: Page) => Promise<unknown>
  /** The calls that fail, as the end of their path. */
  readonly failing?: RegExp
}

const press = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).first().click()
const type = (key: string) => (page: Page) => page.keyboard.press(key)

/** Every page of the shop, in the states that it can have. */
export function listShopViews({ approvals, council, contracts }: Shop): readonly View[] {
  const task = '/tasks/login-rate-limit'
  return [
    { name: 'inbox', path: '/' },
    { name: 'inbox-chosen', path: '/', prepare: (page) => chooseApproval(page) },
    { name: 'inbox-reject', path: '/', prepare: press('Reject…') },
    { name: 'board', path: '/board', prepare: press('Board') },
    { name: 'board-nothing', path: '/board?text=nothing-fits' },
    { name: 'board-new', path: '/board', prepare: press('New task') },
    { name: 'board-list', path: '/board', prepare: press('List') },
    { name: 'task', path: task },
    { name: 'task-changes', path: `${task}?tab=changes` },
    { name: 'task-evidence', path: '/tasks/invoice-rounding?tab=evidence' },
    { name: 'task-prompt', path: `${task}?tab=prompt` },
    { name: 'task-terminal', path: `${task}?tab=terminal` },
    { name: 'task-past', path: task, prepare: goBack },
    { name: 'task-pause', path: task, prepare: press('Pause…') },
    { name: 'task-parked', path: '/tasks/price-cache' },
    { name: 'task-question', path: '/tasks/search-synonyms' },
    { name: 'task-queued', path: '/tasks/net-prices' },
    { name: 'task-completed', path: '/tasks/stock-per-warehouse' },
    { name: 'approval', path: `/approvals/${approvals.change}` },
    { name: 'approval-plan', path: `/approvals/${approvals.plan}` },
    { name: 'approval-given', path: `/approvals/${approvals.given}` },
    { name: 'approval-confirm', path: `/approvals/${approvals.change}`, prepare: type('a') },
    { name: 'agents', path: '/agents' },
    { name: 'agent', path: '/agents/codex-3' },
    { name: 'councils', path: '/coordinations' },
    { name: 'council', path: `/coordinations/${council}` },
    { name: 'contracts', path: '/contracts' },
    { name: 'contract', path: `/contracts/${contracts.current}` },
    { name: 'contract-text', path: `/contracts/${contracts.current}?tab=text` },
    { name: 'contract-difference', path: `/contracts/${contracts.current}?tab=difference&to=${contracts.next}` },
    { name: 'audit', path: '/audit' },
    { name: 'audit-refusals', path: '/audit?success=false', prepare: press(/tool_denied/) },
    { name: 'audit-nothing', path: '/audit?q=nothing-fits' },
    { name: 'insights', path: '/insights' },
    { name: 'insights-behind', path: '/insights?show=agent%3Acodex-3' },
    { name: 'settings', path: '/settings' },
    ...['operators', 'agents', 'webhooks', 'server'].map((tab) => ({
      ...{ name: `settings-${tab}`, path: `/settings?tab=${tab}` },
    })),
    { name: 'palette', path: '/', prepare: async (page) => openPalette(page) },
    { name: 'keys', path: '/', prepare: type('?') },
    { name: 'not-found', path: '/no/such/page' },
    ...listFailingViews(approvals.change, council, contracts.current),
  ]
}

function listFailingViews(approval: string, council: string, contract: string): readonly View[] {
  const failing = (name: string, path: string, calls: RegExp): View => ({
    name: `${name}-failed`,
    path,
    failing: calls,
  })
  return [
    failing('inbox', '/', /inbox|agents|audit/),
    failing('board', '/board', /tasks/),
    failing('task', '/tasks/login-rate-limit', /tasks/),
    failing('approval', `/approvals/${approval}`, /approvals/),
    failing('agents', '/agents', /agents/),
    failing('councils', '/coordinations', /coordinations/),
    failing('council', `/coordinations/${council}`, /coordinations/),
    failing('contracts', '/contracts', /contracts/),
    failing('contract', `/contracts/${contract}`, /contracts/),
    failing('audit', '/audit', /audit/),
    failing('insights', '/insights', /insights/),
    failing('settings', '/settings', /sessions|passkeys/),
  ]
}

/** What a new server shows, and addresses that lead to nothing. */
export const EMPTY_VIEWS: readonly View[] = [
  { name: 'inbox-empty', path: '/' },
  { name: 'board-empty', path: '/board' },
  { name: 'agents-empty', path: '/agents' },
  { name: 'councils-empty', path: '/coordinations' },
  { name: 'audit-empty', path: '/audit' },
  { name: 'insights-empty', path: '/insights' },
  { name: 'settings-empty', path: '/settings?tab=agents' },
  { name: 'task-unknown', path: '/tasks/no-such-task' },
  { name: 'approval-unknown', path: '/approvals/no-such-approval' },
  { name: 'agent-unknown', path: '/agents/no-such-agent' },
  { name: 'council-unknown', path: '/coordinations/no-such-council' },
  { name: 'contract-unknown', path: '/contracts/no-such-contract' },
]

async function chooseApproval(page: Page): Promise<void> {
  const chosen = page.locator('.item--sel', { hasText: 'Approval' })
  for (let steps = 0; steps < 9 && (await chosen.count()) === 0; steps += 1) await page.keyboard.press('j')
}

async function goBack(page: Page): Promise<void> {
  for (let steps = 0; steps < 9; steps += 1) await page.keyboard.press('[')
  await page.getByRole('button', { name: 'Back to now' }).waitFor()
}

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('/')
  await page.getByRole('combobox', { name: 'Find tasks' }).fill('in')
}
