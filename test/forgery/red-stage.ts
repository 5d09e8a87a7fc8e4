import { rmSync } from 'node:fs'
import type { Answer, Running } from '../http/harness.js'
import { contractWith, type Files, openTaskStage, type StagedTask } from './task-stage.js'

export { type Files, put } from './task-stage.js'

export interface Terms {
  readonly run: string
  readonly format?: string
  readonly tests?: string
}

/** One task in a repository of its own, from the plan to the end. */
export interface Worker extends Pick<StagedTask, 'dir' | 'write' | 'bash' | 'warnings' | 'answer'> {
  readonly task: string
  remove(path: string): Promise<void>
  /** Asks for IMPL with these test files; gives what is in the way, '' when nothing is. */
  red(files: readonly object[], criteria?: readonly string[]): Promise<string>
  /** Asks for DONE; gives what is in the way, '' when nothing is. */
  green(): Promise<string>
}

function contractOf({ run, format = 'auto', tests = '{patterns: ["tests/**", "**/*_test.go"]}' }: Terms): string {
  const green = '[{check: all_tests_pass, message: GREEN}, {check: no_skipped_tests, message: SKIPS}]'
  return contractWith({ name: 'red', run, format, seconds: 120, green, done: '[]', tests, enforcement: '' })
}

export interface Stage {
  readonly run: Running
  worker(project: Files, terms: Terms): Promise<Worker>
  end(): Promise<void>
}

export async function openStage(): Promise<Stage> {
  const { run, task, end } = await openTaskStage('forge')
  return { run, end, worker: async (project, terms) => workerOf(await task(contractOf(terms), project)) }
}

function workerOf(task: StagedTask): Worker {
  return {
    ...task,
    task: task.id,
    remove: async (path) => {
      await task.bash(`rm ${path}`)
    },
    red: async (files, criteria = ['AC1']) => inTheWay(await task.moveWithTests(files, criteria)),
    green: async () => inTheWay(await task.move('DONE', { artifacts: {} })),
  }
}

function inTheWay({ body }: Answer): string {
  if (body.allowed === true) return ''
  const blockers = body.blockers as { message: string }[] | undefined
  return blockers === undefined ? JSON.stringify(body) : blockers.map(({ message }) => message).join('\n')
}

export function forget(dir: string): void {
  rmSync(dir, { recursive: true, force: true })
}

/** `test_files` of one file that covers the criteria. */
export function covers(path: string, ...criteria: readonly string[]): object {
  return { path, covers: criteria.length === 0 ? ['AC1'] : criteria }
}
