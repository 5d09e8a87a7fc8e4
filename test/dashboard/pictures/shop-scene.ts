import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { makeRepository } from '../../e2e/projects.js'
import { Walker } from '../../e2e/walker.js'
import { openStage, type Stage } from '../browser.js'
import { holdShopCouncil } from './shop-council.js'
import {
  LIMIT,
  LIMIT_MENDED,
  ROUNDING,
  ROUNDING_AGAIN,
  SHOP,
  STOCK,
  VAT,
  type Work,
  writePlan,
  writeShopContract,
} from './shop-project.js'

const CLOCK = fileURLToPath(new URL('past-clock.mjs', import.meta.url))
const [HOUR, DAY] = [60, 24 * 60]

/** Where the pages of the scene are. */
export interface Shop {
  readonly stage: Stage
  /** An approval of a finished change that was rejected once, and one of a plan. */
  readonly approvals: { readonly change: string; readonly plan: string; readonly given: string }
  readonly council: string
  readonly contracts: { readonly current: string; readonly next: string }
}

/** A server of a small shop in the middle of a working day, with something of everything. */
export async function openShop(): Promise<Shop> {
  const stage = await openStage({
    contractFile: 'shop-tdd.yaml',
    environment: { NODE_OPTIONS: `--import=${CLOCK}` },
    prepare: (place) => {
      makeRepository(place.workspace, SHOP)
      writeFileSync(join(place.dir, 'behind'), String(6 * DAY * 60_000))
      writeFileSync(join(place.dir, 'shop-tdd.yaml'), writeShopContract())
    },
  })
  /** Sets the clock of the server to so many minutes ago. */
  const goTo = async (minutesAgo: number): Promise<void> => {
    writeFileSync(join(stage.place.dir, 'behind'), String(minutesAgo * 60_000))
    stage.server.child.kill('SIGUSR2')
    await sleep(150)
  }
  try {
    return { stage, ...(await play(new Scene(stage, goTo))) }
  } catch (error) {
    await stage.close()
    throw error
  }
}

async function play(scene: Scene): Promise<Omit<Shop, 'stage'>> {
  await scene.finish(STOCK, 'codex-1', 6 * DAY)
  const council = await scene.deliberate(26 * HOUR)
  await scene.finish(VAT, 'claude-3', 6 * HOUR)
  await scene.lose()
  const change = await scene.review()
  await scene.ask()
  await scene.cheat()
  const plan = await scene.proposePlan()
  await scene.touch()
  const contracts = await scene.changeContract()
  await scene.work()
  await scene.goTo(0)
  const given = await scene.findGiven()
  return { approvals: { change, plan, given }, council, contracts }
}

class Scene {
  constructor(
    readonly stage: Stage,
    readonly goTo: (minutesAgo: number) => Promise<void>,
  ) {}

  get server(): Stage['server'] {
    return this.stage.server
  }

  async call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const answer = await this.server.call(method, path, this.server.operator, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  async add(id: string, title: string, more: Record<string, unknown> = {}): Promise<void> {
    await this.call('POST', '/tasks', { id, title, worktree: true, ...more })
  }

  async start(id: string, title: string, agent: string): Promise<Walker> {
    await this.add(id, title)
    return (await Walker.takeOver(this.server, id, agent)).agent
  }

  /** The agent takes its task up again after a pause, with a new token. */
  async wake(walker: Walker): Promise<void> {
    const agent_id = String((await this.call('GET', `/tasks/${walker.task}`)).agent_id ?? 'claude-2')
    const { body } = await this.server.call('POST', '/tasks/claim', walker.agentToken, {
      agent_id,
      task_id: walker.task,
    })
    walker.token = String(body.phase_token)
  }

  /** From the plan to IMPL, with the usual reading on the way. */
  async test(work: Work, agent: string, startedAgo: number): Promise<Walker> {
    await this.goTo(startedAgo)
    const walker = await this.start(work.id, work.title, agent)
    await walker.does('read_files', { paths: ['README.md', 'package.json'] })
    await walker.does('glob', { pattern: 'src/**' })
    await walker.does('grep', { pattern: 'export' })
    await walker.use('write_files', { path: Object.keys(work.code)[0], content: '// later\n' })
    await report(walker, 41_200, 3_800)
    await walker.move('TDD', { plan_document: work.plan })
    await this.goTo(startedAgo - 4)
    await walker.isLetInto('TDD', { plan_document: work.plan })
    await walker.does('write_files', { path: work.test.path, content: work.test.text })
    await walker.does('run_tests', {})
    await this.goTo(startedAgo - 7)
    await report(walker, 88_400, 9_100)
    await walker.enters('IMPL', { test_files: { test_files: [{ path: work.test.path, covers: work.test.covers }] } })
    return walker
  }

  async implement(walker: Walker, work: Work, files = work.code): Promise<Record<string, unknown>> {
    for (const [path, content] of Object.entries(files)) await walker.does('write_files', { path, content })
    await report(walker, 123_000, 14_600)
    const files_changed = Object.keys(work.code).map((path) => ({ path, change_type: 'modified' }))
    return walker.move('REVIEW', { implementation_files: { files_changed, summary: work.summary } })
  }

  /** A task that went through all phases. */
  async finish(work: Work, agent: string, startedAgo: number): Promise<void> {
    const walker = await this.test(work, agent, startedAgo)
    await this.goTo(startedAgo - 12)
    await walker.use('edit_files', { path: work.test.path, edits: [{ old: 'assert.', new: '// assert.' }] })
    await this.implement(walker, work)
    await this.goTo(startedAgo - 21)
    await walker.finish(work.title, 'by a person')
  }

  deliberate(ago: number): Promise<string> {
    return this.goTo(ago).then(() => holdShopCouncil(this.server))
  }

  /** A finished change that was rejected once and asked for again. */
  async review(): Promise<string> {
    const walker = await this.test(ROUNDING, 'claude-2', 4 * HOUR)
    await this.goTo(4 * HOUR - 13)
    await walker.use('bash', { command: `sed -i s/assert.equal/void/ ${ROUNDING.test.path}` })
    await walker.does('run_tests', {})
    await this.implement(walker, ROUNDING)
    const first = await walker.move('COMPLETE', {
      review_report: { reviews: { self: { status: 'completed', comments: [] } }, blocking_issues: [] },
    })
    const { id, digest } = first.pending_approval as { id: string; digest: string }
    await this.goTo(2 * HOUR)
    const comment = 'Say why it works on thousandths, and give the half a name.'
    await this.call('POST', `/approvals/${id}/decision`, { decision: 'reject', digest, comment })
    await this.wake(walker)
    await walker.goBack('IMPL', 'changes_requested')
    await this.goTo(HOUR)
    await this.wake(walker)
    await walker.does('read_files', { path: 'src/billing/round.js' })
    await this.implement(walker, ROUNDING, ROUNDING_AGAIN)
    await this.goTo(48)
    const again = await walker.move('COMPLETE', {
      review_report: {
        reviews: { self: { status: 'completed', comments: ['Name the unit in roundHalfEven.'] } },
        blocking_issues: [],
      },
    })
    return String((again.pending_approval as { id: string }).id)
  }

  /** A task whose agent went away. */
  async lose(): Promise<void> {
    await this.goTo(5 * HOUR)
    const walker = await this.start('order-numbers', 'Keep order numbers free of gaps', 'gemini-2')
    await walker.does('grep', { pattern: 'order' })
  }

  /** An agent that asks a person. */
  async ask(): Promise<void> {
    await this.goTo(41)
    const walker = await this.start('search-synonyms', 'Find products by synonyms', 'codex-2')
    await walker.does('grep', { pattern: 'tariff' })
    await walker.use('ask_user_question', {
      question: 'Should a synonym match rank below an exact match?',
      options: ['Exact matches first', 'Mix by relevance'],
    })
  }

  /** An agent that writes code before there is a test, until it is parked. */
  async cheat(): Promise<void> {
    await this.goTo(35)
    const walker = await this.start('price-cache', 'Invalidate the price cache when a tariff changes', 'codex-3')
    await walker.isLetInto('TDD', {
      plan_document: writePlan('The price cache is invalidated', 'No old price is shown.'),
    })
    await this.goTo(31)
    const content = 'export const cache = new Map()\n'
    for (const path of ['src/pricing/cache.js', 'src/pricing/cache.js', 'src/pricing/tariff.js'])
      await walker.use('write_files', { path, content })
    await walker.use('bash', { command: 'git commit -am done' })
    await walker.use('git_commit', { message: 'Add the cache' })
    await walker.use('write_files', { path: 'src/pricing/cache.js', content })
  }

  async proposePlan(): Promise<string> {
    await this.goTo(18)
    const walker = await this.start('health-endpoint', 'Add a health endpoint with dependency checks', 'pi-1')
    await walker.does('glob', { pattern: 'src/**' })
    const plan = writePlan('The server says whether it is healthy', 'GET /health names every dependency.')
    const asked = await walker.move('TDD', {
      plan_document: { ...plan, open_questions: ['Does the mail server count?'] },
    })
    return String((asked.pending_approval as { id: string }).id)
  }

  /** A change in the work tree that no call explains, after a gate that stayed closed. */
  async touch(): Promise<void> {
    const walker = await this.test(LIMIT, 'claude-1', 16)
    await this.goTo(7)
    await walker.use('write_files', { path: LIMIT.test.path, content: LIMIT.test.text.replace('test(', 'test.skip(') })
    await this.implement(walker, LIMIT)
    await this.goTo(3)
    const { workspace } = await this.call('GET', `/tasks/${LIMIT.id}`)
    const test = String(SHOP['tests/tariff.test.js']).replace('assert.equal(priceOf', 'assert.ok(priceOf')
    writeFileSync(join(String(workspace), 'tests/tariff.test.js'), test)
    await this.implement(walker, LIMIT, LIMIT_MENDED)
  }

  async changeContract(): Promise<Shop['contracts']> {
    const { contracts } = await this.call('GET', '/contracts')
    const current = String((contracts as { hash: string }[])[0]?.hash)
    const source = writeShopContract('1.3').replace('denial_budget: 5', 'denial_budget: 8')
    const added = await this.call('POST', '/contracts', { source })
    return { current, next: String(added.hash) }
  }

  /** Tasks that are being worked on now, or wait for an agent. */
  async work(): Promise<void> {
    await this.goTo(2)
    await this.add('webhook-backoff', 'Retry failed webhooks with back-off')
    await this.add('net-prices', 'Show net prices to business customers', { depends_on: ['webhook-backoff'] })
    const dates = await this.start('csv-dates', 'Export dates in ISO 8601', 'opencode-1')
    await dates.isLetInto('TDD', {
      plan_document: writePlan('Dates are exported in ISO 8601', 'A date sorts as text.'),
    })
    await dates.does('write_files', { path: 'tests/dates.test.js', content: "test('dates', () => {})\n" })
    await this.goTo(1)
    const postal = await this.start('postal-codes', 'Validate postal codes by country', 'gemini-1')
    await postal.does('grep', { pattern: 'tariff' })
    await postal.use('edit_files', { path: 'README.md', edits: [{ old: 'Shop', new: 'Store' }] })
    await dates.does('read_files', { path: 'src/pricing/tariff.js' })
  }

  async findGiven(): Promise<string> {
    const { approvals } = await this.call('GET', '/approvals?status=decided')
    return String((approvals as { id: string; status: string }[]).find(({ status }) => status === 'used')?.id)
  }
}

/** Tokens that the agent says it used. */
async function report(walker: Walker, input_tokens: number, output_tokens: number): Promise<void> {
  const { server, token, task } = walker
  await server.call('POST', '/usage', token, { task_id: task, input_tokens, output_tokens, model: 'large' })
}
