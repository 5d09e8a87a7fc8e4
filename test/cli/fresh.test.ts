import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { formatEventLine, formatEventTable } from '../../src/cli/terminal/event-lines.js'
import { AGENT } from '../spawn/agent.js'
import { contractWith, until } from '../spawn/stage.js'
import { built, Place, type Server } from './program.js'

const RUN_MS_MAX = 300_000
const place = new Place()
const agent = join(place.home, 'program', 'agent.mjs')
let server: Server
beforeAll(async () => {
  await built()
  mkdirSync(join(place.home, 'program'))
  writeFileSync(agent, AGENT)
  const agents = `agents: {coder: {harness: command, command: node, args: ["${agent}"]}}\n`
  writeFileSync(
    join(place.work, 'agent_workflow.yaml'),
    contractWith({ more: agents, crash: '{max_retries: 1, backoff_seconds: 600}' }),
  )
  server = await place.serve()
}, RUN_MS_MAX)

describe('the command line, to somebody who is new', () => {
  it('[REQ-FRESH-3] says who was refused, next to the code', async () => {
    const { agent_token: token } = await place.json(['agent', 'add', 'cheater'])
    await fetch(`${server.url}/api/v1/approvals/apr-1-guessed/decision`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${String(token)}` },
      body: JSON.stringify({ decision: 'approve', digest: '0'.repeat(64) }),
    })
    for (const command of [['events'], ['audit', 'query', '--refused'], ['audit', 'recent']])
      expect((await place.run(command)).stdout).toMatch(/request_refused +system +not_permitted · cheater/)
  })

  it('[REQ-FRESH-3] names an actor once, and none for the server', () => {
    const event = (actor: string, data: object) =>
      ({ seq: 1, at: '2026-01-01T10:00:00Z', type: 'x', stream: 'task:t', phase: 'P', actor, data }) as never
    const details = (actor: string, data: object) =>
      formatEventTable([event(actor, data)])
        .split('\n')[1]
        ?.slice(25)
        .trim()
    expect(details('agent:ada', { tool_name: 'bash', agent_id: 'ada' })).toMatch(/bash · ada$/)
    expect(details('agent:ada', { agent_id: 'ada' })).toMatch(/P +ada$/)
    expect(details('operator:eve', { decision: 'approve', by: 'eve' })).toMatch(/approve · eve$/)
    const refused = { code: 'not_permitted', approval_id: 'apr-1-t', by: 'ada', agent_id: 'ada' }
    expect(details('agent:ada', refused)).toMatch(/P +not_permitted · ada · apr-1-t$/)
    expect(details('system', { reason: 'late' })).toMatch(/P +late$/)
    expect(formatEventLine(event('agent:ada', { tool_name: 'bash' }))).toBe('#1  10:00:00  x  t  P  agent:ada  bash')
  })

  it('[REQ-FRESH-4] says what a new agent has to be started with, in lines that fit', async () => {
    const { stdout } = await place.run(['agent', 'add', 'newcomer'])
    const told = stdout.slice(0, stdout.indexOf('\n\n'))
    for (const part of [`PHASELOCK_URL=${server.url}`, 'PHASELOCK_AGENT_ID=newcomer', 'PHASELOCK_TOKEN'])
      expect(told).toContain(part)
    for (const line of told.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
    expect(stdout).toMatch(/\n\n\S+\n$/)
  })

  it('[REQ-FRESH-5] names the kind of id that was not found, not only a task', async () => {
    for (const [command, one, list] of [
      ['approve apr-7', 'an approval', 'approvals'],
      ['reject apr-7 --comment no', 'an approval', 'approvals'],
      ['approvals apr-7', 'an approval', 'approvals'],
      ['questions qst-7', 'a question', 'questions'],
      ['answer qst-7 yes', 'a question', 'questions'],
    ] as const) {
      const { code, stderr } = await place.run(command.split(' '))
      expect([code, stderr]).toEqual([
        1,
        `There is neither ${one} nor a task "${one === 'a question' ? 'qst' : 'apr'}-7". [not_found]\nSee what waits for you with \`phaselock ${list}\`.\n`,
      ])
    }
  })

  it('[REQ-FRESH-7] does not look for a program on the PATH that was named with its folder', async () => {
    const { code, stderr } = await place.run(['run', '--command', './none-such', 'Do it'])
    expect([code, stderr.includes("none-such' is not a program that the server may run.")]).toEqual([1, true])
    expect(stderr).not.toContain('PATH')
  })

  it(
    '[REQ-FRESH-6] shows the task of an agent that waits to be started again, and how to look at a window',
    async () => {
      const { stdout } = await place.run(
        'run coder Quick --id quick --name quitter --tmux --detach --arg exit:3'.split(' '),
      )
      expect(stdout).toContain('Look at its window with `phaselock attach quitter`; Ctrl-b d leaves it.\n')
      const listed = await until(
        async () => (await place.run(['agents'])).stdout,
        (text) => /^quitter +waiting/m.test(text),
      )
      expect(listed).toMatch(/^quitter +waiting +0 +quick +/m)
      expect((await place.run(['attach', '--help'])).stdout).toContain('Ctrl-b d')
      await place.run(['stop', 'quitter'])
      expect((await place.run(['agents'])).stdout).toMatch(/^quitter +stopped +0 +- +/m)
    },
    RUN_MS_MAX,
  )
})
