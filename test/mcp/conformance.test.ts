import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { start } from '../http/harness.js'
import { addEverything } from './everything.js'
import { EXPECTED_FAILURES, FAILING_CHECKS, MUST_PASS } from './expected-failures.js'
import { openDoor } from './letting-in.js'
import { installed, node22 } from './packages.js'

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12'
const RUN_MS_MAX = 300_000

// The suite calls many tools that are not there; that must not park the task.
const CONTRACT = `
name: conformance
version: "1"
enforcement: { denial_budget: 100000, max_attempts: 1000, confinement: off }
phases:
  - id: ONLY
    name: Only
    prompt: Do it.
    allowed_tools: [read_files, glob]
    required_artifacts: [{ type: note }]
`

interface Scenario {
  readonly name: string
  readonly hasPassed: boolean
}

/** Runs the official suite against the product itself. */
async function conformance(revision: string, parts: { node: string; suite: string; results: string }) {
  const server = await start({ contract: CONTRACT, extendMcp: addEverything })
  const token = await server.addAgent('suite')
  await server.claim('suite', token, await server.addTask())
  const door = await openDoor(server.port, token)
  try {
    const program = join(parts.suite, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
    const child = spawn(
      parts.node,
      [program, 'server', '--url', door.url, '--requirements', revision, '-o', parts.results],
      { cwd: parts.results, env: { PATH: process.env.PATH, HOME: parts.results }, timeout: RUN_MS_MAX },
    )
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString()
      })
    await once(child, 'close')
    expect(server.faults).toEqual([])
    return scenariosOf(output)
  } finally {
    door.close()
    await server.stop()
  }
}

function scenariosOf(output: string): readonly Scenario[] {
  const summary = output.slice(output.indexOf('=== SUMMARY ==='))
  return [...summary.matchAll(/^([✓✗]) ([\w-]+): \d+ passed, \d+ failed/gm)].map(([, mark, name]) => ({
    name: name ?? '',
    hasPassed: mark === '✓',
  }))
}

function failingChecks(results: string, scenario: string): readonly string[] {
  const folder = readdirSync(results).find((name) => name.startsWith(`server-${scenario}-`)) ?? ''
  const checks = JSON.parse(readFileSync(join(results, folder, 'checks.json'), 'utf8')) as readonly {
    id: string
    status: string
  }[]
  return checks.filter((check) => check.status === 'FAILURE').map((check) => check.id)
}

describe('the conformance suite of the protocol', () => {
  it.for(['2025-11-25', '2026-07-28'])(
    '[REQ-MCP-14] every scenario of %s that applies passes',
    { timeout: RUN_MS_MAX },
    async (revision, { skip }) => {
      const node = node22()
      if (!node.ok) return skip(node.reason)
      const suite = installed('conformance', [SUITE])
      if (!suite.ok) return skip(suite.reason)
      const results = mkdtempSync(join(tmpdir(), 'phaselock-conformance-'))
      try {
        const scenarios = await conformance(revision, { node: node.dir, suite: suite.dir, results })
        const passed = scenarios.filter((one) => one.hasPassed).map((one) => one.name)
        expect(passed).toEqual(expect.arrayContaining([...(MUST_PASS[revision] ?? [])]))
        // Both ways: what fails is expected to, and what is expected to fail does.
        const failed = scenarios.filter((one) => !one.hasPassed).map((one) => one.name)
        expect(failed.sort()).toEqual(Object.keys(EXPECTED_FAILURES[revision] ?? {}).sort())
        for (const [scenario, checks] of Object.entries(FAILING_CHECKS))
          if (failed.includes(scenario)) expect(failingChecks(results, scenario)).toEqual(checks)
      } finally {
        rmSync(results, { recursive: true, force: true })
      }
    },
  )
})
