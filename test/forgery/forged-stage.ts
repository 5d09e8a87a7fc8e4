import { expect } from 'vitest'
import { type Files, openStage, type Stage, type Task, type Terms } from '../inverted/stage.js'

/** A project whose tests were seen failing. The same task tries one forgery after the other: none of them leaves IMPL. */
export interface Judged {
  readonly files: Files
  readonly terms: Terms
  /** The test file, and what stands in it. */
  readonly path: string
  readonly test: string
}

export interface ForgedStage {
  inImpl(project: Judged): Promise<Task>
  end(): Promise<void>
}

export async function openForgedStage(): Promise<ForgedStage> {
  const stage: Stage = await openStage()
  return {
    inImpl: async ({ files, terms, path, test }) => {
      const task = await stage.task({ '.gitignore': 'target/\n__pycache__/\n', ...files }, terms)
      await task.write({ [path]: test })
      await task.red({ [path]: ['AC-1'] })
      return task
    },
    end: () => stage.end(),
  }
}

/** The gate stays closed with this code, and says each of these. */
export async function expectHeld(task: Task, code: Files, ...patterns: readonly RegExp[]): Promise<void> {
  await task.write(code)
  const told = (await task.green()).map(({ message }) => message).join('\n')
  expect(told).not.toBe('')
  for (const pattern of patterns) expect(told).toMatch(pattern)
}

/** The gate opens with this code, and the tests are proved. */
export async function expectProved(task: Task, code: Files): Promise<void> {
  await task.write(code)
  expect(await task.green()).toEqual([])
  expect(await task.ran()).toMatchObject({ grade: 'proved' })
}

/** What is said of a test that passes whatever it expects. */
export const SURVIVES = /still pass(?:es)? when the expected value is changed/
