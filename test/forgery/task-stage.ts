import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { type Answer, type Running, type StartOptions, start } from '../http/harness.js'

export type Files = Readonly<Record<string, string>>

/** What the contracts of these tests differ in. The phase of the tests is the same in all of them. */
export interface ContractTerms {
  readonly name: string
  readonly run: string
  readonly format: string
  readonly seconds: number
  /** The blockers of GREEN, as a list in YAML. */
  readonly green: string
  /** What may be called when all is done. */
  readonly done: string
  readonly tests: string
  readonly enforcement: string
  readonly more?: string
}

/** A contract with RED and GREEN. */
export function contractWith(terms: ContractTerms): string {
  return `
name: ${terms.name}
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
    gates: [{id: green, type: validation, blockers: ${terms.green}}]
  - {id: DONE, allowed_tools: ${terms.done}}
${terms.more ?? ''}
commands: {tests: {run: ${JSON.stringify(terms.run)}, format: ${terms.format}, timeout_seconds: ${terms.seconds}}}
tests: ${terms.tests}
enforcement: {denial_budget: 1000, max_attempts: 1000${terms.enforcement}}
`
}

/** One task in a repository of its own. */
export interface StagedTask {
  readonly id: string
  readonly dir: string
  token(): string
  write(files: Files): Promise<void>
  bash(command: string): Promise<Record<string, unknown>>
  /** Asks for a phase until the answer is known. */
  move(target: string, more: object): Promise<Answer>
  /** Asks for IMPL with a plan of these criteria, and these test files. */
  moveWithTests(files: readonly object[], criteria: readonly string[]): Promise<Answer>
  /** The last answer to a request for a phase. */
  answer(): Answer
  /** Its warnings. */
  warnings(): string
}

export interface TaskStage {
  run: Running
  task(source: string, project: Files, prepare?: (dir: string) => void): Promise<StagedTask>
  end(): Promise<void>
}

/** A server for tasks, each under a contract of its own. */
export async function openTaskStage(prefix: string, options: StartOptions = {}): Promise<TaskStage> {
  const hashes = new Map<string, string>()
  let count = 0
  const stage: TaskStage = {
    // As a server has it: without a PATH no compiled packages of Go are kept, and every run compiles them.
    run: await start({ environment: { PATH: process.env.PATH }, ...options }),
    end: () => stage.run.stop(),
    task: async (source, project, prepare) => {
      const { run } = stage
      const known = hashes.get(source)
      const added = known === undefined ? await run.call('POST', '/contracts', run.operator, { source }) : null
      const contract = known ?? String(added?.body.hash)
      expect(contract, JSON.stringify(added?.body)).toMatch(/^[0-9a-f]{64}$/)
      hashes.set(source, contract)
      const dir = realpathSync(mkdtempSync(join(run.workspace, '..', 'work-')))
      put(dir, project)
      prepare?.(dir)
      count += 1
      const id = `${prefix}-${count}`
      await run.addTask({ id, contract, workspace: dir })
      return taskOf(stage, { id, dir, token: await run.claim(id, await run.addAgent(id), id) })
    },
  }
  return stage
}

export function put(dir: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
}

function taskOf(stage: TaskStage, one: { readonly id: string; readonly dir: string; token: string }): StagedTask {
  const { id, dir } = one
  let last: Answer
  const move = async (target_phase: string, more: object): Promise<Answer> => {
    do last = await stage.run.call('POST', '/tasks/transition', one.token, { task_id: id, target_phase, ...more })
    while (last.body.checking === true)
    if (typeof last.body.phase_token === 'string') one.token = last.body.phase_token
    return last
  }
  const tool = async (tool_name: string, args: object): Promise<Record<string, unknown>> => {
    const call = { task_id: id, tool_name, args }
    const { status, body } = await stage.run.call('POST', '/tools/execute', one.token, call)
    expect(status, JSON.stringify(body)).toBe(200)
    return body
  }
  return {
    id,
    dir,
    token: () => one.token,
    write: async (files) => {
      for (const [path, content] of Object.entries(files)) await tool('write_files', { path, content })
    },
    bash: (command) => tool('bash', { command }),
    move,
    moveWithTests: (test_files, criteria) =>
      move('IMPL', { artifacts: { plan_document: planOf(criteria), test_files: { test_files } } }),
    answer: () => last,
    warnings: () => ((last.body.warnings ?? []) as { message: string }[]).map(({ message }) => message).join('\n'),
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
