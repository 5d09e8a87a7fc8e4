import { expect } from 'vitest'
import { contractWith, type Files, openTaskStage, type StagedTask } from '../forgery/task-stage.js'
import type { Answer, Running, StartOptions } from '../http/harness.js'

export type { Files } from '../forgery/task-stage.js'

/** How the tests of a project are run, and what the contract says of the inverted run. */
export interface Terms {
  readonly run: string
  readonly format?: string
  readonly inverted?: string
  readonly severity?: string
  readonly enforcement?: string
}

export interface Blocked {
  readonly check: string | null
  readonly message: string
  readonly remedy: string
  readonly grade: string | null
}

/** One task in a repository of its own, under a contract with RED, GREEN and the inverted run. */
export interface Task extends Omit<StagedTask, 'move'> {
  /** Asks for IMPL with these tests. Must be granted. */
  red(covers: Readonly<Record<string, readonly string[]>>, criteria?: readonly string[]): Promise<void>
  /** Asks for DONE; what is in the way. */
  green(): Promise<readonly Blocked[]>
  /** Goes back to the tests. */
  back(): Promise<void>
  /** The record of the last observed run that the ledger names. */
  ran(): Promise<Record<string, unknown>>
}

function contractOf({ run, format = 'auto', inverted, severity = 'blocking', enforcement = '' }: Terms): string {
  const canFail = `{check: tests_can_fail, message: New tests must be able to fail, severity: ${severity}}`
  return contractWith({
    ...{ name: 'inverted', run, format, seconds: 300, done: '[read_files]', enforcement },
    green: `[{check: all_tests_pass, message: GREEN}, ${canFail}]`,
    tests: `{patterns: ["tests/**", "**/*_test.go"]${inverted === undefined ? '' : `, inverted: ${inverted}`}}`,
    more: `transitions:
  - {from: TDD, to: IMPL, gate: red}
  - {from: IMPL, to: DONE, gate: green}
  - {from: IMPL, to: TDD, when: tests_need_change}`,
  })
}

export interface Stage {
  run: Running
  task(project: Files, terms: Terms, prepare?: (dir: string) => void): Promise<Task>
  end(): Promise<void>
}

export async function openStage(options: StartOptions = {}): Promise<Stage> {
  const stage = await openTaskStage('inverted', options)
  return {
    run: stage.run,
    end: stage.end,
    task: async (project, terms, prepare) =>
      invertedTask(stage.run, await stage.task(contractOf(terms), project, prepare)),
  }
}

function blockersIn({ body }: Answer): readonly Blocked[] {
  if (body.allowed === true) return []
  expect(body.blockers, JSON.stringify(body)).toBeDefined()
  return body.blockers as Blocked[]
}

function invertedTask(run: Running, task: StagedTask): Task {
  return {
    ...task,
    red: async (covers, criteria = ['AC-1']) => {
      const files = Object.entries(covers).map(([path, covered]) => ({ path, covers: covered }))
      expect(blockersIn(await task.moveWithTests(files, criteria))).toEqual([])
    },
    green: async () => blockersIn(await task.move('DONE', {})),
    back: async () => {
      expect(blockersIn(await task.move('TDD', { claims: { tests_need_change: true } }))).toEqual([])
    },
    ran: async () => {
      const { body } = await run.call('GET', `/tasks/${task.id}/timeline`, run.operator)
      const events = body.events as { data: { observed?: Record<string, unknown>[] } }[]
      const found = events.flatMap(({ data }) => data.observed ?? []).at(-1)
      expect(found, JSON.stringify(body)).toBeDefined()
      return found ?? {}
    },
  }
}
