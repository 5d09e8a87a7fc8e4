import { execFileSync, spawn } from 'node:child_process'
import { existsSync, lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { built, Place, SCRIPT, type Server } from './program.js'

type Calls = readonly { readonly name: string; readonly arguments: object }[]
interface Step {
  readonly delay_ms?: number
  readonly text?: string
  readonly tool_calls?: Calls
}

const answer = (content: string): Calls => [{ name: 'new_answer', arguments: { content } }]
const vote = (agent_id: string, reason = 'best'): Calls => [{ name: 'vote', arguments: { agent_id, reason } }]
const scripted = (id: string, script: readonly Step[]) => ({ id, kind: 'scripted', script })
// Votes that are asked for again and rounds that begin anew take steps: enough of them for every order.
const votes = (agent_id: string, delay_ms = 300): readonly Step[] =>
  Array.from({ length: 12 }, () => ({ delay_ms, tool_calls: vote(agent_id) }))

const place = new Place()
let server: Server

function council(name: string, agents: readonly object[], options: object = {}): string {
  const file = join(place.work, `${name}.yaml`)
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ agents, options }, null, 2))
  return file
}

const TIE = [
  scripted('a', [{ text: 'mine', tool_calls: answer('The answer\nof a') }, ...votes('agent1')]),
  scripted('b', [{ delay_ms: 100, tool_calls: answer('The answer of b') }, ...votes('agent2')]),
]
const SLOW = [scripted('slow', [{ delay_ms: 60_000, tool_calls: answer('too late') }])]

beforeAll(async () => {
  await built()
  server = await place.serve()
})

/** A command that goes on while the test does something. */
function started(args: readonly string[], at: Place = place) {
  const child = spawn(process.execPath, [SCRIPT, 'coordinate', ...args], {
    cwd: at.work,
    env: at.environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (chunk) => (said[name] += chunk))
  let hasEnded = false
  const ended = new Promise<number | null>((resolve) =>
    child.once('close', (code) => {
      hasEnded = true
      resolve(code)
    }),
  )
  return {
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    output: () => said.stdout + said.stderr,
    kill: () => child.kill('SIGINT'),
    ended,
    said: async (sign: string) => {
      while (!(said.stdout + said.stderr).includes(sign)) {
        if (hasEnded) throw new Error(`ended without ${sign}: ${said.stdout}${said.stderr}`)
        await wait(20)
      }
    },
  }
}

describe('phaselock coordinate', () => {
  it('[REQ-ROUND-20] a council that misses its quorum ends with 1 and says so', async () => {
    const run = started(['-c', council('split', TIE, { quorum: 2 }), 'Which way?'])
    expect(await run.ended, run.output()).toBe(1)
    expect(run.output()).toContain('No winner: Quorum not reached: a has 1 vote, and 2 are needed')
  })

  it('[REQ-COUNCIL-6] [REQ-COUNCIL-7] wrong usage and wrong councils end with 2, each problem with its place', async () => {
    const wrong = join(place.work, 'wrong.yaml')
    writeFileSync(wrong, 'agents:\n  - id: a\n    kind: wizard\n  - {id: a, kind: remote, model: x}\n')
    const file = council('fine', TIE)
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [['-c', wrong, 'Why?'], /wrong\.yaml:3:5: agents\[0\]\.kind: 'wizard' is not a known kind\. Known: model/],
      [['-c', wrong, 'Why?'], /wrong\.yaml:4:6: agents\[1\]\.id: There are two agents 'a'\./],
      [['-c', file, '-o', 'novelty=odd', 'Why?'], /options\.novelty: must be one of/],
      [['-c', file, '-o', 'colour=red', 'Why?'], /options\.colour: is not a known field/],
      [['-c', file], /Give either the question or --question-file/],
      [
        ['-c', file, '--question-file', join(place.work, 'none'), 'Why?'],
        /Give either the question or --question-file/,
      ],
      [['Why?'], /--config/],
      [['-c', file, '--timeout', '0', 'Why?'], /whole number from 1/],
    ]
    const ended = await Promise.all(cases.map(([args]) => place.run(['coordinate', ...args])))
    for (const [at, { code, stdout, stderr }] of ended.entries()) {
      expect(stderr).toMatch(cases[at]?.[1] ?? /^$/)
      expect({ stderr, code, stdout }).toMatchObject({ code: 2, stdout: '' })
    }
    const asJson = await place.run(['coordinate', '-c', wrong, 'Why?', '--json'])
    expect(JSON.parse(asJson.stderr)).toMatchObject({ exit: 2, problems: [{ line: 3, column: 5 }, {}, {}] })
  })

  it('[REQ-COUNCIL-1] refusals are shown with their exact text, and the answer comes in full', async () => {
    const agents = [
      scripted('a', [
        { text: 'Let me see', tool_calls: vote('agent2') },
        { tool_calls: [{ name: 'launch_rocket', arguments: {} }] },
        { tool_calls: answer('Use \u001b[31mthe first\u202e\nand only') },
        ...votes('agent1'),
      ]),
    ]
    const { code, stdout } = await place.run(['coordinate', '-c', council('refused', agents), 'Which \u001b[2J?'])
    for (const obeyed of ['\u001b', '\u202e']) expect(stdout).not.toContain(obeyed)
    expect(stdout).toContain(
      '[agent1 a] round 1 Retry (1/3): Cannot vote when no answers exist. Required: new_answer\n',
    )
    expect(stdout).toContain(
      '[agent1 a] round 1 Retry (2/3): Called launch_rocket (not workflow). Required: vote or new_answer\n',
    )
    expect(stdout).toContain('[agent1 a] round 1 answered agent1.1 (')
    expect(stdout).toMatch(/\[agent1 a\] round 2 voted for agent1\.1: best\n/)
    expect(stdout).toContain('\nWinner: agent1 a with agent1.1\na won with 1 of 1 vote\n\nUse the first\nand only\n')
    expect(stdout).toMatch(/Reliability\n {2}\[agent1 a\] 2 refusals \(vote_no_answers, unknown_tool\).*, ok\n/)
    expect(code).toBe(0)
  })

  it('[REQ-COUNCIL-4] [REQ-COUNCIL-9] a tie is said; --json is one document, --jsonl a line for each event, --quiet the answer', async () => {
    const file = council('tie', TIE)
    const ways = [[], ['--json'], ['--jsonl'], ['--quiet']]
    const question = join(place.work, 'question.md')
    writeFileSync(question, 'Which\none?\n')
    const [plain, json, lines, quiet] = await Promise.all(
      ways.map((way) => place.run(['coordinate', '-c', file, '--question-file', question, ...way])),
    )
    expect(plain?.stdout).toContain('tied with b (tie-broken by registration order)')
    const document = JSON.parse(json?.stdout ?? '')
    expect(document).toMatchObject({
      ...{ question: 'Which\none?', finish_reason: 'completed', winner: 'a', is_tie: true, votes: { a: 1, b: 1 } },
      answer: 'The answer\nof a',
    })
    const events = (lines?.stdout ?? '')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events[0]).toMatchObject({ event: 'started', agents: [{ id: 'a', anonymous_id: 'agent1' }, { id: 'b' }] })
    expect(events.at(-1)).toMatchObject({ event: 'result', winner: 'a', is_tie: true })
    expect(events.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['run_started', 'part', 'vote_cast', 'run_ended']),
    )
    expect(quiet?.stdout).toBe('The answer\nof a\n')
    expect(ways.map((_, at) => [plain, json, lines, quiet][at]?.code)).toEqual([0, 0, 0, 0])
  })

  it('[REQ-COUNCIL-5] [REQ-COUNCIL-8] time that runs out without an answer is exit 5, and --timeout wins over the file', async () => {
    const file = council('late', SLOW, { timeout_seconds: 50 })
    const { code, stdout } = await place.run(['coordinate', '-c', file, '--timeout', '1', 'Why?'])
    expect(stdout).toContain('No winner: No answers available from any agents due to timeout')
    expect(code).toBe(5)
    const broken = council('broken', [scripted('a', [])])
    const none = await place.run(['coordinate', '-c', broken, 'Why?'])
    expect(none.stdout).toContain('[agent1 a] failed: The script has no step left')
    expect(none.code).toBe(1)
  })

  it('[REQ-COUNCIL-10] the first Ctrl-C cancels the run and waits for its end, the second leaves at once', async () => {
    const file = council('cancelled', SLOW)
    const run = started(['-c', file, 'Why?'])
    await run.said('round 1 began')
    run.kill()
    expect(await run.ended).toBe(4)
    expect(run.output()).toContain('ended: cancelled (the operator interrupted it)')
    expect(run.output()).toContain('Cancelled: the operator interrupted it')
    const stuck = started(['-c', file, 'Why?'])
    await stuck.said('round 1 began')
    server.kill('SIGSTOP')
    try {
      stuck.kill()
      await wait(500)
      stuck.kill()
      expect(await stuck.ended).toBe(4)
    } finally {
      server.kill('SIGCONT')
    }
  })

  it('[REQ-COUNCIL-11] a remote agent learns once how to take part, and its token is shown nowhere else', async () => {
    const file = council('remote', [{ id: 'guest', kind: 'remote' }])
    const run = started(['-c', file, 'Why?', '--json'])
    await run.said('"invited"')
    const invited = JSON.parse(run.stderr())
    expect(invited).toMatchObject({ event: 'invited', mcp: `${server.url}/mcp`, agents: [{ id: 'guest' }] })
    const { token } = invited.agents[0]
    const respond = (calls: Calls) =>
      fetch(`${invited.url}/respond`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ tool_calls: calls }),
      })
    expect((await respond(answer('from afar'))).status).toBe(200)
    await respond(vote('agent1'))
    expect(await run.ended).toBe(0)
    const stdout = run.stdout()
    expect(JSON.parse(stdout)).toMatchObject({ winner: 'guest', answer: 'from afar' })
    expect(stdout).not.toContain(token)
    expect((await place.run(['events', '--limit', '100', '--json'])).stdout).not.toContain(token)
    const help = await place.run(['coordinate', '--help'])
    expect(help.stdout).toContain('Exit codes: 0 there is a winner')
    expect((await place.run(['completion', 'bash'])).stdout).toMatch(/coordinate.*report/s)
  })
})

describe('phaselock report', () => {
  it('[REQ-RUNREPORT-10] the newest run is reported, as text, as JSON and as a page that follows no link', async () => {
    await place.run(['coordinate', '-c', council('newest', TIE), 'Newest?', '--quiet'])
    const { stdout } = await place.run(['report'])
    expect(stdout).toMatch(/^Run {7}coord-\w+ Newest\?\nStatus {4}completed: /)
    expect(stdout).toContain('Winner: agent1 a with agent1.1, a tie\nThe answer\nof a\n')
    const report = await place.json(['report'])
    const { id } = report.run as { id: string }
    expect(report).toMatchObject({ run: { kind: 'coordination', title: 'Newest?' }, result: { is_tie: true } })
    const name = `phaselock-report-${id}.html`
    const precious = join(place.home, 'precious')
    writeFileSync(precious, 'mine')
    symlinkSync(precious, join(place.work, name))
    const [page, printed, nowhere, nobody] = await Promise.all(
      [[id, '--html'], [id, '--html', '-'], [id, '--html', join(place.work, 'no', 'such', 'r.html')], ['nobody']].map(
        (args) => place.run(['report', ...args]),
      ),
    )
    expect(page?.stdout).toBe(`Written: ${name}\n`)
    expect(readFileSync(precious, 'utf8')).toBe('mine')
    expect(lstatSync(join(place.work, name)).isFile()).toBe(true)
    expect(readFileSync(join(place.work, name), 'utf8')).toContain('<h1>Newest?</h1>')
    expect(printed?.stdout).toContain('</html>')
    expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be written (ENOENT)') })
    expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining('[not_found]') })
    await place.json(['task', 'add', 'Later', '--id', 'later'])
    expect((await place.run(['report'])).stdout).toMatch(/^Task {6}later Later\n/)
  })
})

describe('without a server', () => {
  const alone = new Place()

  it('[REQ-COUNCIL-12] a server is started for as long as it takes, and none is when one was named', async () => {
    const file = council('alone', TIE)
    const named = await alone.run(['coordinate', '-c', file, 'Why?', '--url', 'http://127.0.0.1:9'])
    expect(named).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('Cannot reach a server') })
    const stateDir = join(alone.home, 'own-state')
    const ended = await alone.run(['coordinate', '-c', file, 'Why?', '--state-dir', stateDir, '--quiet'])
    expect(ended).toMatchObject({ code: 0, stdout: 'The answer\nof a\n' })
    expect(ended.stderr).toBe('No server runs for this work tree: starting one for this command.\n')
    expect(existsSync(join(stateDir, 'server.json'))).toBe(false)
    const report = await alone.run(['report', '--state-dir', stateDir])
    expect(report.stdout).toContain('Winner: agent1 a')
    expect(existsSync(join(stateDir, 'server.json'))).toBe(false)
  })

  it('[REQ-COUNCIL-12] a server that was started for a run does not outlive a user who leaves early', async () => {
    const stateDir = join(alone.home, 'left-state')
    const run = started(['-c', council('left', SLOW), 'Why?', '--state-dir', stateDir], alone)
    await run.said('starting one for this command')
    await wait(200)
    run.kill()
    expect(await run.ended).toBe(4)
    await wait(3000)
    const down = await alone.run(['down', '--state-dir', stateDir])
    expect(down).toEqual({ code: 0, stdout: 'No server runs for this work tree.\n', stderr: '' })
  })
})

describe.skipIf(!hasTmux())('on a terminal', () => {
  const name = `phaselock-test-${process.pid}`
  const tmux = (...args: readonly string[]): string =>
    execFileSync('tmux', ['-L', name, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: { ...place.environment, TERM: 'xterm' },
    })
  const screen = (): string => tmux('capture-pane', '-p', '-t', 's')
  const until = async (sign: string | RegExp): Promise<string> => {
    const deadline = Date.now() + 20_000
    for (;;) {
      const text = screen()
      if (typeof sign === 'string' ? text.includes(sign) : sign.test(text)) return text
      if (Date.now() > deadline) throw new Error(`never seen: ${sign}\n${text}`)
      await wait(50)
    }
  }
  afterAll(() => {
    tmux('kill-server')
  })

  it('[REQ-COUNCIL-3] at 80 columns each agent has its block while it works, which is replaced by the result', async () => {
    const agents = [
      scripted('first', [
        { tool_calls: vote('agent2') },
        { delay_ms: 200, text: 'Thinking \u001b[2Jabout it', tool_calls: answer('42') },
        ...votes('agent1', 1500),
      ]),
      scripted('second', [
        { delay_ms: 800, text: `A long line ${'x'.repeat(200)}`, tool_calls: answer('43') },
        ...votes('agent1', 1500),
      ]),
    ]
    const file = council('lanes', agents)
    tmux(
      'new-session',
      '-d',
      '-s',
      's',
      '-x',
      '80',
      '-y',
      '24',
      `exec ${process.execPath} ${SCRIPT} coordinate -c ${file} 'Which?'; cat`,
    )
    tmux('set-option', '-g', 'remain-on-exit', 'on')
    const working = await until(/agent1 first {3}round \d.*refused 1\s/)
    expect(working).toMatch(/^coord-\w+ {2}\d answers?, 0 votes, \d+s {2}\(Ctrl-C cancels\)$/m)
    expect(working).toContain('[agent1 first] round 1 Retry (1/3): Cannot vote when no answers exist.')
    expect(await until(/agent2 second {2}round 2/)).toMatch(/agent2 second {2}round 2 {2}\w+/)
    const done = await until('More: phaselock report')
    expect(done).toContain('Winner: agent1 first with agent1.1')
    expect(done).not.toContain('(Ctrl-C cancels)')
    // The log above was not drawn over.
    expect(tmux('capture-pane', '-p', '-S', '-100', '-t', 's').match(/round 1 answered/g)).toHaveLength(2)
  })
})

function hasTmux(): boolean {
  return ['/usr/bin/tmux', '/usr/local/bin/tmux'].some((path) => existsSync(path))
}
