import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { makePlace, type Place, type Served, serve } from '../e2e/process.js'
import { type Files, makeRepository } from '../e2e/projects.js'
import { Walker } from '../e2e/walker.js'

/** A server, and as many liars as needed, each with a repository and a task of its own. */
export interface Stage {
  readonly server: Served
  liar(project: Files, contract: Terms): Promise<Liar>
  end(): Promise<void>
}

/** What differs between the contracts that are lied to. */
export interface Terms {
  readonly run: string
  readonly report?: string
  readonly format?: string
  /** What IMPL may write; by default everything but the tests. */
  readonly impl?: string
}

export interface Liar {
  readonly agent: Walker
  readonly dir: string
  write(path: string, content: string): Promise<void>
  /** Hands over tests that fail, and is in IMPL. */
  toImpl(tests: Files): Promise<void>
  bash(command: string): Promise<{ status: number; body: Record<string, unknown> }>
}

const ALL_BUT_TESTS = '{forbidden_patterns: ["tests/**"]}'

function contractOf({ run, report, format, impl = ALL_BUT_TESTS }: Terms): string {
  const more = `${report === undefined ? '' : `, report: ${report}`}${format === undefined ? '' : `, format: ${format}`}`
  return `
name: lied-to
version: "1"
phases:
  - id: TDD
    allowed_tools: [read_files, write_files, edit_files, bash, run_tests]
    tool_constraints: {write_files: {allowed_patterns: ["tests/**"]}}
    gates: [{id: red, type: validation, blockers: [{check: tests_are_failing, severity: blocking, message: RED}]}]
  - id: IMPL
    allowed_tools: [read_files, write_files, edit_files, bash, run_tests]
    tool_constraints: {write_files: ${impl}}
    required_artifacts: [{type: test_run_result, schema: schemas/test_result.json, description: The run}]
    gates:
      - id: green
        type: validation
        blockers:
          - {check: all_tests_pass, severity: blocking, message: GREEN}
          - {check: no_skipped_tests, severity: blocking, message: NO SKIPS}
  - {id: REVIEW, allowed_tools: [read_files]}
transitions: [{from: TDD, to: IMPL, gate: red}, {from: IMPL, to: REVIEW, gate: green}]
commands: {tests: {run: ${JSON.stringify(run)}, timeout_seconds: 60${more}}}
enforcement: {denial_budget: 50}
`
}

export async function openStage(): Promise<Stage> {
  const place: Place = await makePlace()
  const server = await serve(place, 'tdd')
  const known = new Map<string, string>()
  let count = 0
  return {
    server,
    liar: async (project, terms) => {
      const source = contractOf(terms)
      const added = await server.call('POST', '/contracts', server.operator, { source })
      const hash = known.get(source) ?? String(added.body.hash)
      known.set(source, hash)
      const dir = mkdtempSync(join(place.dir, 'repository-'))
      makeRepository(dir, project)
      count += 1
      const agent = await Walker.claim(server, `lie-${count}`, { contract: hash, workspace: dir })
      const liar: Liar = {
        agent,
        dir,
        write: async (path, content) => {
          await agent.does('write_files', { path, content })
        },
        toImpl: async (tests) => {
          for (const [path, content] of Object.entries(tests)) await liar.write(path, content)
          await agent.enters('IMPL')
        },
        bash: (command) => agent.use('bash', { command }),
      }
      return liar
    },
    end: async () => {
      await server.stop()
      place.remove()
    },
  }
}

/** The gate is asked for with the best lies there are, and stays closed; gives what was in the way. */
export async function staysClosed({ agent }: Liar, target: string): Promise<string> {
  const exit_code = target === 'IMPL' ? 1 : 0
  const counts = target === 'IMPL' ? { passed: 0, failed: 3 } : { passed: 30, failed: 0 }
  const body = await agent.move(target, {
    test_run_result: { command: 'npm test', exit_code, ...counts, skipped: 0 },
  })
  expect(body.allowed, JSON.stringify(body)).toBe(false)
  const shown = await agent.server.call('GET', `/tasks/${agent.task}`, agent.server.operator)
  expect(shown.body.phase).toBe(target === 'IMPL' ? 'TDD' : 'IMPL')
  const blockers = body.blockers as { code: string; check: string | null; message: string }[]
  return blockers.map(({ code, check, message }) => `${check ?? code}: ${message}`).join('\n')
}
