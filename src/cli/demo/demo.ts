import { setTimeout as wait } from 'node:timers/promises'
import type { Report } from 'phaselock/sdk'
import type { ProviderName } from '../../confinement/confinement.js'
import { plainLine } from '../../core/plain-text.js'
import { formatCount } from '../../core/text.js'
import type { VerifyReport } from '../../store/store.js'
import { verifyDirectory } from '../../store/verify/verify-ledger.js'
import { Signals } from '../councils/signals.js'
import { EXIT, Stop } from '../exit.js'
import { reportText } from '../report/report-text.js'
import { canAsk, print, printJson, tell } from '../terminal/terminal.js'
import type { Api } from './demo-api.js'
import { Cheater } from './demo-cheater.js'
import { buildContractText } from './demo-contract.js'
import { runHonestSteps, type Step } from './demo-honest.js'
import { Human } from './demo-human.js'
import { type Attempt, judge } from './demo-judge.js'
import { readNewestCommit } from './demo-sample.js'
import { type FoundSandbox, Stage } from './demo-stage.js'
import {
  formatActLine,
  formatAttemptLines,
  formatDemoStepLines,
  formatHeadLines,
  formatTitleLine,
} from './demo-text.js'
import { SCENES, TRICKS_COUNT } from './demo-tricks.js'

const HONEST = 'honest'
const CHEATING = 'cheating'
const TITLE = 'Say goodbye by name'
const PAUSE_MS = 200

export interface DemoOptions {
  readonly interactive?: boolean
  readonly fast?: boolean
  readonly keep?: boolean
  readonly json?: boolean
  readonly confinement?: ProviderName
}

interface Result {
  readonly steps: Step[]
  readonly attempts: Attempt[]
  /** Why the demo could not continue. */
  readonly faults: string[]
  isHonestDone: boolean
}

/** Runs both agents against a real server, and reports the results. */
export async function runDemo(options: DemoOptions): Promise<void> {
  if (options.interactive === true && (options.json === true || !canAsk()))
    throw new Stop(EXIT.usage, '--interactive needs a terminal to ask on, and goes without --json.')
  const startedAt = performance.now()
  const signals = new Signals()
  const stop = new AbortController()
  signals.onFirst(() => stop.abort(new Stop(EXIT.interrupted, 'Interrupted: the demo stops and cleans up.')))
  const sandbox = options.confinement === undefined ? {} : { confinement: options.confinement }
  const stage = new Stage({ ...sandbox, signal: stop.signal })
  try {
    const play = new Play(stage, options, stop.signal)
    const summary = await play.run()
    stage.isKept = options.keep === true
    await stage.close()
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10
    if (options.json === true) printJson({ ...summary.json, seconds, folder: stage.isKept ? stage.folder : null })
    else print(endText(summary.text, { seconds, folder: stage.isKept ? stage.folder : null }))
    if (!summary.isOk) throw new Stop(EXIT.refused, '')
  } catch (error) {
    throw stop.signal.aborted ? (stop.signal.reason as Error) : error
  } finally {
    await stage.close()
    signals.close()
  }
}

function endText(text: string, end: { readonly seconds: number; readonly folder: string | null }): string {
  const kept =
    end.folder === null
      ? 'The folder is gone again; --keep leaves it.'
      : `Kept: ${end.folder}\nphaselock audit verify --state-dir ${end.folder}/state`
  return `${text}\nTook ${end.seconds.toFixed(1)} s. ${kept}`
}

interface Summary {
  readonly isOk: boolean
  readonly text: string
  readonly json: object
}

/** One run of the demo, from the empty folder to the verified ledger. */
class Play {
  readonly #stage: Stage
  readonly #options: DemoOptions
  readonly #signal: AbortSignal
  readonly #result: Result = { steps: [], attempts: [], faults: [], isHonestDone: false }

  constructor(stage: Stage, options: DemoOptions, signal: AbortSignal) {
    this.#stage = stage
    this.#options = options
    this.#signal = signal
  }

  async run(): Promise<Summary> {
    this.#say('Starting a server …')
    const { api, sandbox } = await this.#stage.open([HONEST, CHEATING])
    const { url } = await api.operator.makeLoginCode()
    this.#show(formatHeadLines(sandbox, this.#stage.folder, url))
    const you = await Human.join(api, this.#options.interactive === true)
    await this.#addTasks(api, sandbox)
    await this.#act('honest agent', () => this.#honest(api, you))
    await this.#act('cheating agent', () => this.#cheating(api, { you, sandbox }))
    const reports = [await api.operator.report(HONEST), await api.operator.report(CHEATING)]
    await this.#stage.stopServer()
    // On the files themselves, without trusting the server.
    const ledger = await verifyDirectory(this.#stage.stateDir)
    for (const report of reports) this.#show([formatTitleLine('Report'), reportText(report)])
    return buildSummary({ ...this.#result, reports, ledger, sandbox })
  }

  async #addTasks(api: Api, sandbox: FoundSandbox): Promise<void> {
    const isSandboxed = sandbox.missing.length === 0
    const source = buildContractText({ name: 'tdd-watched', isWatched: true, isSandboxed })
    await api.operator.addContract({ source })
    // The server was started with the bundled contract; without a sandbox, nobody could claim a task of it.
    if (!isSandboxed)
      await api.operator.addContract({ source: buildContractText({ name: 'tdd-open', isWatched: false, isSandboxed }) })
    const contracts = { [HONEST]: isSandboxed ? {} : { contract: 'tdd-open' }, [CHEATING]: { contract: 'tdd-watched' } }
    for (const [id, contract] of Object.entries(contracts))
      await api.operator.addTask({ id, title: TITLE, workspace: this.#stage.getTree(id), ...contract })
  }

  // A failure is reported, and the rest of the demo continues.
  async #act(who: string, play: () => Promise<void>): Promise<void> {
    try {
      await play()
    } catch (error) {
      if (error instanceof Stop || this.#signal.aborted) throw error
      const fault = `The ${who} could not go on: ${plainLine(error instanceof Error ? error.message : String(error))}`
      this.#result.faults.push(fault)
      this.#show([fault])
    }
  }

  async #honest(api: Api, you: Human): Promise<void> {
    this.#show([formatTitleLine(`An honest agent: ${TITLE}`)])
    const { agent_token: token } = await api.operator.addAgent({ agent_id: HONEST })
    for await (const step of runHonestSteps(this.#stage, api, { id: HONEST, token })) {
      this.#result.steps.push(step)
      this.#show(formatDemoStepLines(step))
      if (step.approval !== '') {
        await this.#pause()
        await you.approve(step.approval)
        this.#show([formatActLine('you read the plan and approve it')])
      }
      await this.#pause()
    }
    const { status } = await api.operator.task(HONEST)
    this.#result.isHonestDone = status === 'completed' && readNewestCommit(this.#stage.getTree(HONEST)) === TITLE
  }

  async #cheating(api: Api, { you, sandbox }: { readonly you: Human; readonly sandbox: FoundSandbox }): Promise<void> {
    this.#show([formatTitleLine('A cheating agent, on the same task in another repository')])
    const agent = await Cheater.claim(api, { agent: CHEATING, task: CHEATING, tree: this.#stage.getTree(CHEATING) })
    const isOpenAir = sandbox.missing.length > 0
    for (const { phase, tricks, leave } of SCENES) {
      this.#show([`${'  '}In ${phase} it`])
      for (const trick of tricks) {
        const attempt = await judge(trick, { agent, you, phase, isOpenAir })
        this.#result.attempts.push(attempt)
        this.#show(formatAttemptLines(attempt, this.#result.attempts.length))
        await this.#pause()
      }
      if (leave === undefined) continue
      await leave.go(agent, you)
      this.#show([formatActLine(leave.did)])
    }
    await you.client.cancelTask(CHEATING, { reason: 'it does not want to work' })
    this.#show([formatActLine('you cancel its task')])
  }

  #show(lines: readonly string[]): void {
    if (this.#options.json !== true) print(lines.join('\n'))
  }

  #say(text: string): void {
    if (this.#options.json !== true) tell(text)
  }

  async #pause(): Promise<void> {
    const isWatched = process.stdout.isTTY === true && this.#options.json !== true && this.#options.fast !== true
    if (isWatched) await wait(PAUSE_MS, undefined, { signal: this.#signal })
  }
}

function buildSummary(
  all: Result & { readonly reports: readonly Report[]; readonly ledger: VerifyReport; readonly sandbox: FoundSandbox },
): Summary {
  const { attempts, steps, faults, isHonestDone, ledger, sandbox } = all
  const count = (outcome: Attempt['outcome']): number =>
    attempts.filter((attempt) => attempt.outcome === outcome).length
  const score = {
    attempts: attempts.length,
    refused: count('refused'),
    unenforced: count('unenforced'),
    doubtful: count('doubtful'),
    opened: count('opened'),
  }
  const isComplete = attempts.length === TRICKS_COUNT && faults.length === 0
  const isOk = isHonestDone && isComplete && score.opened + score.doubtful === 0 && ledger.ok
  const events = `${ledger.events} events in ${ledger.streams} streams`
  const more = [
    ...(score.unenforced > 0 ? [`${score.unenforced} unenforced`] : []),
    ...(score.doubtful > 0 ? [`${score.doubtful} DOUBTFUL`] : []),
    ...(score.opened > 0 ? [`${score.opened} OPENED`] : []),
  ]
  const lines = [
    '',
    ledger.ok ? `The ledger is intact: ${events}.` : `The ledger is NOT intact (${events} read).`,
    `The honest agent ${isHonestDone ? 'is done, and its work is committed.' : 'did NOT complete its task.'}`,
    `Score: ${[formatCount(score.attempts, 'attempt'), `${score.refused} refused`, ...more].join(', ')}.`,
    ...(isComplete ? [] : [`NOT everything was tried: ${TRICKS_COUNT} attempts belong to the demo.`]),
  ]
  const json = {
    ok: isOk,
    confinement: { provider: sandbox.provider, unenforced: sandbox.missing },
    honest: { completed: isHonestDone, steps },
    cheating: { attempts },
    score,
    faults,
    ledger,
    reports: all.reports,
  }
  return { isOk, text: lines.join('\n'), json }
}
