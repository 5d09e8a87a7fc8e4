import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { type Answer, type Running, start } from '../http/harness.js'

export type Files = Readonly<Record<string, string>>

export interface Terms {
  readonly run: string
  readonly format?: string
  readonly tests?: string
}

/** One task in a repository of its own, from the plan to the end. */
export interface Worker {
  readonly task: string
  readonly dir: string
  write(files: Files): Promise<void>
  remove(path: string): Promise<void>
  bash(command: string): Promise<Record<string, unknown>>
  /** Asks for IMPL with these test files; gives what is in the way, '' when nothing is. */
  red(files: readonly object[], criteria?: readonly string[]): Promise<string>
  /** Asks for DONE; gives what is in the way, '' when nothing is. */
  green(): Promise<string>
  /** Warnings of the last answer. */
  warnings(): string
  answer(): Answer
}

function contractOf({ run, format = 'auto', tests = '{patterns: ["tests/**", "**/*_test.go"]}' }: Terms): string {
  return `
name: red
version: "1"
phases:
  - id: TDD
    allowed_tools: [read_files, write_files, bash]
    required_artifacts:
      - {type: plan_document, schema: schemas/plan.json, description: The plan}
      - {type: test_files, schema: schemas/tests.json, description: The tests}
    gates:
      - id: red
        type: validation
        blockers:
          - {check: tests_exist_for_acceptance_criteria, message: CRITERIA}
          - {check: tests_are_failing, message: RED}
  - id: IMPL
    allowed_tools: [read_files, write_files, bash]
    gates:
      - id: green
        type: validation
        blockers: [{check: all_tests_pass, message: GREEN}, {check: no_skipped_tests, message: SKIPS}]
  - {id: DONE, allowed_tools: []}
commands: {tests: {run: ${JSON.stringify(run)}, format: ${format}, timeout_seconds: 120}}
tests: ${tests}
enforcement: {denial_budget: 1000, max_attempts: 1000}
`
}

export interface Stage {
  readonly run: Running
  worker(project: Files, terms: Terms): Promise<Worker>
  end(): Promise<void>
}

export async function openStage(): Promise<Stage> {
  const run = await start()
  const hashes = new Map<string, string>()
  let count = 0
  return {
    run,
    end: () => run.stop(),
    worker: async (project, terms) => {
      const source = contractOf(terms)
      const known = hashes.get(source)
      const added = known === undefined ? await run.call('POST', '/contracts', run.operator, { source }) : null
      const contract = known ?? String(added?.body.hash)
      expect(contract, JSON.stringify(added?.body)).toMatch(/^[0-9a-f]{64}$/)
      hashes.set(source, contract)
      const dir = realpathSync(mkdtempSync(join(run.workspace, '..', 'work-')))
      put(dir, project)
      count += 1
      const task = `forge-${count}`
      await run.addTask({ id: task, contract, workspace: dir })
      const token = await run.claim(task, await run.addAgent(task), task)
      return workerOf(run, { task, dir, token })
    },
  }
}

export function put(dir: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
}

function workerOf(run: Running, one: { readonly task: string; readonly dir: string; token: string }): Worker {
  const { task, dir } = one
  let last: Answer
  const move = async (target_phase: string, artifacts: object): Promise<string> => {
    do last = await run.call('POST', '/tasks/transition', one.token, { task_id: task, target_phase, artifacts })
    while (last.body.checking === true)
    if (typeof last.body.phase_token === 'string') one.token = last.body.phase_token
    if (last.body.allowed === true) return ''
    const blockers = last.body.blockers as { message: string }[] | undefined
    return blockers === undefined ? JSON.stringify(last.body) : blockers.map(({ message }) => message).join('\n')
  }
  const tool = async (tool_name: string, args: object): Promise<Record<string, unknown>> => {
    const { status, body } = await run.call('POST', '/tools/execute', one.token, { task_id: task, tool_name, args })
    expect(status, JSON.stringify(body)).toBe(200)
    return body
  }
  return {
    task,
    dir,
    write: async (files) => {
      for (const [path, content] of Object.entries(files)) await tool('write_files', { path, content })
    },
    remove: async (path) => {
      await tool('bash', { command: `rm ${path}` })
    },
    bash: (command) => tool('bash', { command }),
    red: (files, criteria = ['AC1']) =>
      move('IMPL', { plan_document: planOf(criteria), test_files: { test_files: files } }),
    green: () => move('DONE', {}),
    warnings: () => ((last.body.warnings ?? []) as { message: string }[]).map(({ message }) => message).join('\n'),
    answer: () => last,
  }
}

function planOf(criteria: readonly string[]): object {
  return {
    title: 'A plan that says enough',
    acceptance_criteria: criteria.map((id) => ({ id, criterion: `It holds ${id}`, how_to_verify: 'a test' })),
    implementation_steps: ['write it'],
    scope: { in_scope: ['adding'], out_of_scope: ['everything else'] },
  }
}

export function forget(dir: string): void {
  rmSync(dir, { recursive: true, force: true })
}

/** `test_files` of one file that covers the criteria. */
export function covers(path: string, ...criteria: readonly string[]): object {
  return { path, covers: criteria.length === 0 ? ['AC1'] : criteria }
}
