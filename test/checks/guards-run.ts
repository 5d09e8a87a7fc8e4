import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { addGuards } from '../../src/checks/observed-runs/test-guards.js'
import { judgePassing } from '../../src/checks/red-green/green-run.js'
import { readReport } from '../../src/checks/reports/read-report.js'
import type { TestFormat } from '../../src/checks/reports/report.js'

/** A project on disk whose tests are run as an observed run is, but for the wall. */
export interface Project {
  readonly files: Readonly<Record<string, string>>
  readonly argv: readonly string[]
  readonly format: TestFormat
  /** The tests that were recorded at RED. */
  readonly pinned: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** A folder of installed packages. */
  readonly packages?: string
}

export interface Verdict {
  readonly isGreen: boolean
  readonly exitCode: number | null
  readonly text: string
}

const RUN_MS_MAX = 300_000

export function runTests(project: Project, guard: 'guarded' | 'plain'): Verdict {
  const folder = mkdtempSync(join(tmpdir(), 'guards-'))
  try {
    for (const [path, text] of Object.entries(project.files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    if (project.packages !== undefined) symlinkSync(project.packages, join(folder, 'node_modules'))
    const own = { PATH: process.env.PATH ?? '', HOME: folder, CI: '1', ...project.env }
    const [program = '', ...args] = project.argv
    const ran = spawnSync(program, args, {
      cwd: folder,
      env: guard === 'guarded' ? addGuards(own) : own,
      encoding: 'utf8',
      timeout: RUN_MS_MAX,
    })
    return readVerdict(project, ran, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function readVerdict(project: Project, ran: ReturnType<typeof spawnSync>, root: string): Verdict {
  const stdout = String(ran.stdout)
  const stderr = String(ran.stderr)
  const exitCode = ran.status ?? 128
  const reading = readReport({
    format: project.format,
    stdout,
    stderr,
    reportText: null,
    exitCode,
    root,
    outputCut: false,
  })
  const report = reading.result === 'unreadable' ? null : reading.report
  const outcome = judgePassing(
    {
      name: 'tests',
      command: '',
      exitCode,
      counts: report === null ? null : { passed: report.passed, failed: report.failed, skipped: report.skipped },
      tests: report?.tests ?? [],
      isComplete: report?.complete ?? false,
      loadFailures: report?.loadFailures ?? [],
      coverage: null,
      wasStopped: false,
      problem: reading.result === 'read' ? null : reading.reason,
      durationMs: 0,
      treeHash: '',
    },
    { pinned: { ids: project.pinned, unloaded: [] }, baseline: null },
  )
  return {
    isGreen: outcome.result === 'holds',
    exitCode: ran.status,
    text: `${JSON.stringify(outcome)}\n${stdout}\n${stderr}`,
  }
}
