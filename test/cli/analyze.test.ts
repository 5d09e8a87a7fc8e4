import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Activity, TaskMetrics } from 'phaselock/sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import { renderVisitsDot, renderVisitsMermaid } from '../../src/cli/report/analyze-graph.js'
import { formatAnalysis } from '../../src/cli/report/analyze-text.js'
import { countColumns } from '../../src/cli/terminal/table.js'
import { renderFrame } from '../../src/cli/terminal/top-frame.js'
import type { JsonObject } from '../../src/core/json.js'
import { type Answer, built, Place, SCRIPT, type Server } from './program.js'

const HOSTILE = '\u001b]0;owned\u0007\u001b[2J\u202e"evil"\n|x|'
// biome-ignore lint/suspicious/noControlCharactersInRegex: nothing of the kind may be printed.
const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/

function sum(more: object = {}): JsonObject {
  return {
    ...{ visits: 2, duration_seconds: 3903, turns: 3, tool_calls: 12345, interrupts: 1, commits: 2 },
    tokens: { input: 6000, output: 200, cache_read: 0, cache_write: 0, grade: 'reported' },
    commands: { count: 5, by_command: [{ command: HOSTILE.repeat(9), count: 5 }] },
    edits: { count: 1, by_path: [{ path: HOSTILE, count: 1 }] },
    refusals: { count: 2, by_code: { forbidden_tool: 2 } },
    ...more,
  }
}

const METRICS = {
  task: { id: 't', title: HOSTILE.repeat(20), status: 'active', phase: 'A', visit: 3 },
  agent_id: HOSTILE,
  visits: [
    sum({ phase: `A${HOSTILE}`, visit: 1, entered_by: 'start' }),
    sum({ phase: 'B', visit: 2, entered_by: 'transition' }),
    sum({ phase: `A${HOSTILE}`, visit: 3, entered_by: 'back' }),
  ],
  phases: [sum({ phase: `A${HOSTILE}${'x'.repeat(90)}` }), sum({ phase: 'B' })],
  totals: sum(),
  truncated: false,
} as unknown as TaskMetrics

const TASK: JsonObject = {
  ...{ id: `t${HOSTILE}`, title: HOSTILE, status: 'awaiting_approval', phase: HOSTILE.repeat(9), visit: 1 },
  ...{ agent_id: HOSTILE.repeat(9), phase_seconds: 3903, tokens: 1_234_567, tokens_grade: 'reported' },
  ...{ calls_per_minute: 12, refusals: 1234, open_questions: 1, parked_reason: null },
  violation: { rule: 'A[0]', diagnostic: HOSTILE.repeat(20) },
  pending_approval: { id: 'apr-1-t' },
}

describe('what is printed of a run', () => {
  it('[REQ-ANALYZE-1] the table fits 80 columns, with thousands and durations, whatever agents wrote', () => {
    const text = formatAnalysis(METRICS)
    expect(text.split('\n').filter((line) => countColumns(line) > 80)).toEqual([])
    expect(text).not.toMatch(OBEYED)
    for (const part of ['1h 5m 3s', '12,345', '6,200', '(back)', 'TOTAL', 'forbidden_tool', 'as the agent says'])
      expect(text).toContain(part)
    expect(formatAnalysis({ ...METRICS, visits: [] })).toContain('Work has not started')
  })

  it('[REQ-ANALYZE-2] the graph has a box for each phase with its visits, ways back are dashed, and no text leaves its quotes', () => {
    const mermaid = renderVisitsMermaid(METRICS)
    expect(mermaid).toMatch(/p0\["A.*<br\/>visit 1: 1h 5m 3s, 6,200 tokens<br\/>visit 3: /)
    expect(mermaid).toContain('p0 -->|"to visit 2"| p1')
    expect(mermaid).toContain('p1 -.->|"back, to visit 3"| p0')
    expect(mermaid.split('\n').filter((line) => (line.match(/"/g) ?? []).length % 2 !== 0)).toEqual([])
    expect(mermaid).not.toMatch(OBEYED)
    const dot = renderVisitsDot(METRICS)
    expect(dot).toContain('p1 -> p0 [label="back, to visit 3", style=dashed];')
    expect(dot).not.toMatch(OBEYED)
    expect(
      dot
        .replaceAll('\\"', '')
        .split('\n')
        .filter((line) => (line.match(/"/g) ?? []).length % 2 !== 0),
    ).toEqual([])
  })

  it('[REQ-TOP-1] a frame of tasks fits the screen, and names what waits for a person', () => {
    const activity = {
      ...{ at: '2026-03-01T10:11:12.000Z', counts: { active: 2, awaiting_approval: 1 }, paused: null },
      tasks: Array.from({ length: 30 }, () => TASK),
    } as unknown as Activity
    for (const [columns, rows] of [
      [80, 24],
      [60, 8],
      [200, 60],
      [80, 3],
    ] as const) {
      const lines = renderFrame(activity, { columns, rows }, 'q quits')
      expect(lines.length).toBeLessThanOrEqual(rows)
      expect(lines.filter((line) => countColumns(line) > columns)).toEqual([])
      expect(lines.join('\n')).not.toMatch(OBEYED)
    }
    const text = renderFrame(activity, { columns: 80, rows: 24 }, 'q quits').join('\n')
    for (const part of ['10:11:12', '1h 5m', '1.2M', '1,234', 'apr-1-t', '1 open question', 'more', 'q quits'])
      expect(text).toContain(part)
    expect(renderFrame({ ...activity, tasks: [] }, { columns: 80, rows: 24 }).join('\n')).toContain('No task')
    expect(renderFrame({ ...activity, paused: 'x' }, { columns: 80, rows: 24 })[0]).toContain('PAUSED')
  })
})

const CONTRACT = `
name: small
version: "1"
phases:
  - id: CODE
    allowed_tools: [write_files]
    tool_constraints: {write_files: {allowed_patterns: ["src/**"]}}
  - {id: DONE, allowed_tools: []}
enforcement: {reconcile: block}
`

describe('the commands', () => {
  const place = new Place()
  let server: Server
  const file = (path: string) => join(place.work, path)
  const call = async (method: string, path: string, token: string, body?: object): Promise<Answer> => {
    const response = await fetch(`${server.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return (await response.json()) as Answer
  }

  beforeAll(async () => {
    await built()
    mkdirSync(file('src'))
    writeFileSync(file('c.yaml'), CONTRACT)
    server = await place.serve(['--contract', 'c.yaml'])
  })

  it('[REQ-ANALYZE-3] without a task or a run the commands say so', async () => {
    expect(await place.run(['analyze'])).toMatchObject({ code: 1, stderr: expect.stringContaining('no task') })
    expect(await place.run(['analyze', 'nobody'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not_found'),
    })
    expect(await place.run(['analyze', '--format', 'gif'])).toMatchObject({ code: 2 })
    expect(await place.run(['top'])).toMatchObject({ code: 0, stdout: expect.stringContaining('No task') })
    expect(await place.run(['top', '--url', 'http://127.0.0.1:1'])).toMatchObject({ code: 3 })
  })

  it('[REQ-ANALYZE-3] with a run they print it', async () => {
    expect(await place.run(['start', '--task', 'First'])).toMatchObject({ code: 0 })
    const runFile = join(server.stateDir, 'run.json')
    const run = JSON.parse(readFileSync(runFile, 'utf8'))
    const agent = String(run.agent_token)
    const wrote = await call('POST', '/tools/execute', agent, {
      ...{ task_id: run.task_id, tool_name: 'write_files', args: { path: 'src/a', content: 'a' } },
    })
    expect(wrote).toMatchObject({ logged: true })
    const analyzed = await place.run(['analyze'])
    expect(analyzed.stdout).toContain(run.task_id)
    expect(analyzed.stdout).toContain('src/a')
    expect(await place.json(['analyze'])).toMatchObject({ task: { id: run.task_id }, totals: { edits: { count: 1 } } })
    expect((await place.run(['analyze', '--format', 'dot'])).stdout).toContain('digraph')
    expect((await place.json(['top'])).tasks).toMatchObject([{ id: run.task_id }])
    expect((await place.run(['top', '--once'])).stdout).toContain('CODE')
  })

  it('[REQ-TOP-2] on a terminal it takes the screen, and gives it back when q is pressed and when it is ended', async (context) => {
    if (spawnSync('script', ['--version']).status !== 0) return context.skip()
    for (const end of ['q', '\u0003', 'SIGTERM'] as const) {
      const command = `stty rows 24 cols 80; echo pid $$; exec ${process.execPath} ${SCRIPT} top`
      const child = spawn('script', ['-qefc', command, '/dev/null'], {
        cwd: place.work,
        env: { ...place.environment, TERM: 'xterm', SHELL: '/bin/sh' },
        stdio: ['pipe', 'pipe', 'ignore'],
      })
      let output = ''
      child.stdout.on('data', (chunk) => (output += chunk))
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
      for (let tries = 0; tries < 200 && !output.includes('q quits'); tries += 1)
        await new Promise((resolve) => setTimeout(resolve, 100))
      if (end === 'SIGTERM') process.kill(Number(/pid (\d+)/.exec(output)?.[1]), end)
      else child.stdin.write(end)
      const code = await ended
      expect(output).toContain('\u001b[?1049h\u001b[?25l')
      expect({ end, code }).toEqual({ end, code: end === 'q' ? 0 : 4 })
      expect(output.slice(output.lastIndexOf('\u001b[?25h')).startsWith('\u001b[?25h\u001b[?1049l')).toBe(true)
    }
  })
})
