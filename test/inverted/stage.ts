import { mkdtempSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Files, put } from '../forgery/red-stage.js'
import { type Answer, type Running, type StartOptions, start } from '../http/harness.js'

export type { Files } from '../forgery/red-stage.js'

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
export interface Task {
  readonly id: string
  readonly dir: string
  token(): string
  write(files: Files): Promise<void>
  bash(command: string): Promise<Record<string, unknown>>
  /** Asks for IMPL with these tests. Must be granted. */
  red(covers: Readonly<Record<string, readonly string[]>>, criteria?: readonly string[]): Promise<void>
  /** Asks for DONE; what is in the way. */
  green(): Promise<readonly Blocked[]>
  /** Goes back to the tests. */
  back(): Promise<void>
  answer(): Answer
  warnings(): string
  /** The record of the last observed run that the ledger names. */
  ran(): Promise<Record<string, unknown>>
}

function contractOf({ run, format = 'auto', inverted, severity = 'blocking', enforcement = '' }: Terms): string {
  return `
name: inverted
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
        blockers:
          - {check: all_tests_pass, message: GREEN}
          - {check: tests_can_fail, message: New tests must be able to fail, severity: ${severity}}
  - {id: DONE, allowed_tools: [read_files]}
transitions:
  - {from: TDD, to: IMPL, gate: red}
  - {from: IMPL, to: DONE, gate: green}
  - {from: IMPL, to: TDD, when: tests_need_change}
commands: {tests: {run: ${JSON.stringify(run)}, format: ${format}, timeout_seconds: 300}}
tests: {patterns: ["tests/**", "**/*_test.go"]${inverted === undefined ? '' : `, inverted: ${inverted}`}}
enforcement: {denial_budget: 1000, max_attempts: 1000${enforcement}}
`
}

export interface Stage {
  run: Running
  task(project: Files, terms: Terms, prepare?: (dir: string) => void): Promise<Task>
  end(): Promise<void>
}

export async function openStage(options: StartOptions = {}): Promise<Stage> {
  const hashes = new Map<string, string>()
  let count = 0
  const stage: Stage = {
    run: await start(options),
    end: () => stage.run.stop(),
    task: async (project, terms, prepare) => {
      const { run } = stage
      const source = contractOf(terms)
      const known = hashes.get(source)
      const added = known === undefined ? await run.call('POST', '/contracts', run.operator, { source }) : null
      const contract = known ?? String(added?.body.hash)
      expect(contract, JSON.stringify(added?.body)).toMatch(/^[0-9a-f]{64}$/)
      hashes.set(source, contract)
      const dir = realpathSync(mkdtempSync(join(run.workspace, '..', 'work-')))
      put(dir, project)
      prepare?.(dir)
      count += 1
      const id = `inverted-${count}`
      await run.addTask({ id, contract, workspace: dir })
      return taskOf(stage, { id, dir, token: await run.claim(id, await run.addAgent(id), id) })
    },
  }
  return stage
}

function taskOf(stage: Stage, one: { readonly id: string; readonly dir: string; token: string }): Task {
  const { id, dir } = one
  let last: Answer
  const move = async (target_phase: string, more: object): Promise<readonly Blocked[]> => {
    do last = await stage.run.call('POST', '/tasks/transition', one.token, { task_id: id, target_phase, ...more })
    while (last.body.checking === true)
    if (typeof last.body.phase_token === 'string') one.token = last.body.phase_token
    if (last.body.allowed === true) return []
    expect(last.body.blockers, JSON.stringify(last.body)).toBeDefined()
    return last.body.blockers as Blocked[]
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
    red: async (covers, criteria = ['AC-1']) => {
      const files = Object.entries(covers).map(([path, covered]) => ({ path, covers: covered }))
      const artifacts = { plan_document: planOf(criteria), test_files: { test_files: files } }
      expect(await move('IMPL', { artifacts })).toEqual([])
    },
    green: () => move('DONE', {}),
    back: async () => {
      expect(await move('TDD', { claims: { tests_need_change: true } })).toEqual([])
    },
    answer: () => last,
    warnings: () => ((last.body.warnings ?? []) as Blocked[]).map(({ message }) => message).join('\n'),
    ran: async () => {
      const { body } = await stage.run.call('GET', `/tasks/${id}/timeline`, stage.run.operator)
      const events = body.events as { data: { observed?: Record<string, unknown>[] } }[]
      const found = events.flatMap(({ data }) => data.observed ?? []).at(-1)
      expect(found, JSON.stringify(body)).toBeDefined()
      return found ?? {}
    },
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
