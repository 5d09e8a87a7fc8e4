import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Approval } from 'phaselock/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatApproval } from '../../src/cli/terminal/approval-text.js'
import { AGENT } from '../spawn/agent.js'
import { until } from '../spawn/stage.js'
import { type Answer, built, Place, SCRIPT, type Server } from './program.js'

const RUN_MS_MAX = 300_000
const CONTRACT = `name: by-hand
version: "1"
phases:
  - id: PLAN
    allowed_tools: [ask_user_question]
    checkpoint: {evidence: {why: {type: string, min_length: 1, description: why}}}
    gates: [{id: ok, type: approval, approvers: [human, lead], min_approvals: 2}]
  - {id: DONE, allowed_tools: []}
agents: {coder: {harness: command, command: node, args: [AGENT]}}
enforcement: {reconcile: off}
`
const PLAIN = `name: plain
version: "1"
phases:
  - {id: PLAN, allowed_tools: [], gates: [{id: ok, type: approval, approvers: [human]}]}
  - {id: DONE, allowed_tools: []}
agents: {coder: {harness: command, command: node, args: [AGENT]}}
enforcement: {reconcile: off}
`

const closes: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closes) await close()
})
/** A place that is made while tests run, when it is too late to say what is done after them. */
const latePlace = (): Place => new Place((close) => void closes.push(close))

async function placeWith(contract: string): Promise<{ place: Place; server: Server }> {
  const place = latePlace()
  const agent = join(place.home, 'program', 'agent.mjs')
  mkdirSync(join(place.home, 'program'))
  writeFileSync(agent, AGENT)
  writeFileSync(join(place.work, 'agent_workflow.yaml'), contract.replace('AGENT', `"${agent}"`))
  return { place, server: await place.serve() }
}

const approvalOf = (fields: object): Approval =>
  ({ approvers: [], decisions: [], warnings: [], evidence: {}, ...fields }) as unknown as Approval

describe('approvals and questions on the command line', () => {
  it('[REQ-BYHAND-10] what is to be approved begins with its title', () => {
    const artifacts = [{ type: 'plan', sha256: 'x', bytes: 1, grade: 'reported' }]
    const text = formatApproval(
      approvalOf({ artifacts, contents: { plan: { aim: 'all', title: 'A plan', why: 'so' } } }),
    )
    expect(text).toContain('  title: A plan\n  aim: all\n  why: so\n')
  })

  it('[REQ-BYHAND-10] a text that is too long is cut, with a note', () => {
    const artifacts = [{ type: 'plan', sha256: 'x', bytes: 1, grade: 'reported' }]
    const text = formatApproval(approvalOf({ artifacts, contents: { plan: { title: 'x'.repeat(100_000) } } }))
    expect(text.length).toBeLessThan(4000)
    expect(text).toContain('… 98007 characters are not shown: ')
  })

  let place: Place
  let server: Server
  let token = ''
  beforeAll(async () => {
    await built()
    ;({ place, server } = await placeWith(CONTRACT))
    await place.run(['operator', 'add', 'ada'])
    await place.run(['task', 'add', 'Look at me', '--id', 'one'])
    token = String((await place.json(['agent', 'add', 'eve'])).agent_token)
    await call('/tasks/claim', { agent_id: 'eve' })
  }, RUN_MS_MAX)

  const call = async (path: string, body: object): Promise<Answer> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(`${server.url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await answer.json()) as Answer
  }
  const request = (why: string) =>
    call('/tasks/transition', { task_id: 'one', target_phase: 'DONE', evidence: { why } })

  it('[REQ-BYHAND-10] an approval shows its evidence, who may answer, and how it is answered', async () => {
    await request('because it is right')
    const listed = (await place.run(['approvals'])).stdout
    expect(listed).toContain('Look and answer: phaselock approve ID, phaselock reject ID --comment TEXT')
    const shown = (await place.run(['approvals', 'one'])).stdout
    expect(shown).toContain('Approvers  2 of a person, lead\n')
    expect(shown).toContain(`Work tree  ${place.work}\n`)
    expect(shown).toContain('Evidence\n  why: because it is right\n')
  })

  it('[REQ-BYHAND-10] one approval of two is shown as such, and a decided one is not asked about again', async () => {
    const id = String((await place.json(['approvals', 'one'])).id)
    const first = await place.run(['approve', 'one', '--yes'])
    expect(first.stdout.trimEnd().split('\n').at(-1)).toBe(`${id} has your approval and needs 1 more of human, lead.`)
    expect((await place.run(['approvals', id])).stdout).toContain('Decided    approved by admin\n')
    await request('for another reason')
    const again = await place.run(['approve', id, '--yes'])
    expect(again.code).toBe(1)
    expect(again.stderr).toContain(`Operator admin has answered approval ${id} already.`)
    const waiting = String((await place.json(['approvals', 'one'])).id)
    expect(waiting).not.toBe(id)
    const { approvals } = (await place.json(['approvals'])) as { approvals: { id: string; digest: string }[] }
    expect(approvals.map((one) => one.id)).toEqual([id, waiting])
    expect(new Set(approvals.map((one) => one.digest)).size).toBe(2)
    await request('for a third reason')
    const voided = await place.run(['approve', waiting, '--yes'])
    expect(voided).toMatchObject({ code: 1, stdout: '' })
    expect(voided.stderr).toBe(
      `Approval ${waiting} is void: the task no longer waits for an approval of this content.\n`,
    )
    const rejected = await place.run(['reject', 'one', '--yes', '--comment', 'no error cases'])
    expect(rejected.stdout).toMatch(/ is rejected\. An agent that waits for it goes on by itself\.\n$/)
    const other = /(apr-\S+) is rejected/.exec(rejected.stdout)?.[1] ?? ''
    expect((await place.run(['approvals', other])).stdout).toContain('Decided    rejected by admin: no error cases\n')
    expect((await place.run(['approve', other])).stderr).toMatch(
      new RegExp(
        `^Approval ${other} was rejected on the command line by admin at \\d\\d:\\d\\d:\\d\\d UTC \\(no error cases\\); there is nothing to do\\.\n$`,
      ),
    )
  })

  it('[REQ-BYHAND-11] an answer that is not an option is refused with the options and how to choose one', async () => {
    const args = { question: 'Which port?', options: ['80', '8080'] }
    await call('/tools/execute', { task_id: 'one', tool_name: 'ask_user_question', args })
    expect((await place.run(['questions'])).stdout).toContain('phaselock answer ID TEXT')
    expect(await place.run(['answer', 'one', '90'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr:
        'There is no option 90. The options are:\n  1  80\n  2  8080\nAnswer with the number of one, or with --other and a text of your own.\n',
    })
    expect((await place.run(['answer', 'one', '90', '--other'])).code).toBe(0)
  })

  it('[REQ-BYHAND-24] revoking an agent says which task it holds and how to free it', async () => {
    const said = (await place.run(['agent', 'revoke', 'eve'])).stdout
    expect(said).toContain('To free it now: phaselock task reassign one --reason TEXT\n')
    expect((await place.run(['task', 'reassign', 'one', '--reason', 'it lies'])).code).toBe(0)
  })
})

describe('an agent that waits for people', () => {
  let place: Place
  beforeAll(async () => {
    await built()
    ;({ place } = await placeWith(PLAIN))
  }, RUN_MS_MAX)

  const words = (...list: readonly string[]) => list.flatMap((one) => ['--arg', one])

  it(
    '[REQ-BYHAND-12] run says what it waits for, once, and goes on with the answer',
    async () => {
      const done = place.run(['run', 'coder', 'Do it', '--name', 'ada', ...words('claim', 'go:DONE')])
      const { id } = await until(
        async () => ((await place.json(['approvals'])).approvals as { id: string }[])[0] ?? { id: '' },
        (one) => one.id !== '',
      )
      await new Promise((resolve) => setTimeout(resolve, 5000))
      await place.run(['approve', id, '--yes'])
      const ended = await done
      expect(ended.stderr).toBe(`It waits for you. Look at it and answer: phaselock approve ${id}\n`)
      expect([ended.code, ended.stdout.includes('Agent ada: completed')]).toEqual([0, true])
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-BYHAND-13] a user who interrupts run is told how to come back, and the agent goes on; its log comes as JSON too',
    async () => {
      const child = spawn(
        process.execPath,
        [SCRIPT, 'run', 'coder', 'Do it', '--name', 'eve', ...words('claim', 'beat')],
        {
          cwd: place.work,
          env: place.environment,
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      )
      let said = ''
      child.stderr.on('data', (chunk) => (said += chunk))
      child.stdout.on('data', (chunk) => String(chunk).includes('claim 200') && child.kill('SIGINT'))
      expect(await new Promise((resolve) => child.once('close', resolve))).toBe(4)
      expect(said).toBe('Agent eve goes on. Follow it: phaselock logs eve --follow. End it: phaselock stop eve\n')
      expect(await place.json(['agents'])).toMatchObject({
        agents: expect.arrayContaining([expect.objectContaining({ agent_id: 'eve', status: 'working' })]),
      })
      const listed = (await place.run(['agents'])).stdout
      expect(listed).toMatch(/^AGENT +STATE +RESTARTS +TASK +PHASE +BINDING +ACTIVE$/m)
      expect(listed).toMatch(/^eve +running +0 +task-\S+ +PLAN +[\w-]+ +\d+s ago$/m)
      const followed = place.run(['logs', 'eve', '--follow', '--json'])
      await new Promise((resolve) => setTimeout(resolve, 1500))
      expect((await place.run(['stop', 'eve'])).code).toBe(0)
      const parts = (await followed).stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Answer)
      expect(parts.map((one) => String(one.text)).join('')).toContain('claim 200')
      expect(parts.at(-1)).toMatchObject({ agent_id: 'eve', ended: true })
    },
    RUN_MS_MAX,
  )
})

describe('what cannot be done', () => {
  let place: Place
  beforeAll(async () => {
    await built()
    ;({ place } = await placeWith(PLAIN))
  }, RUN_MS_MAX)

  it(
    '[REQ-BYHAND-17] a window without a terminal and an unknown agent are refused with an alternative',
    async () => {
      await place.run([
        'run',
        'coder',
        'Do it',
        '--detach',
        '--tmux',
        '--name',
        'tim',
        '--arg',
        'claim',
        '--arg',
        'beat',
      ])
      expect(await place.run(['attach', 'tim'])).toMatchObject({
        code: 2,
        stderr:
          'There is no terminal to show the window on. Follow what it writes with `phaselock logs tim --follow`.\n',
      })
      const unknown = await place.run(['run', 'claude', 'Do it'])
      expect(unknown.code).toBe(1)
      expect(unknown.stderr).toContain('Known agents: coder')
      expect(unknown.stderr).toContain('Name an agent CLI (claude-code, codex, gemini, opencode)')
      expect((await place.run(['stop', 'tim', '--park', '--reason', 'wrong'])).code).toBe(0)
    },
    RUN_MS_MAX,
  )

  it('[REQ-BYHAND-23] a parked task waits for the operator, and status says so with the reason', async () => {
    const { stdout } = await place.run(['status'])
    const [, waiting = ''] = stdout.split('Waiting for you\n')
    expect(waiting).toMatch(/^task-\w+ +PLAN +Do it +agent tim was stopped: wrong$/m)
    expect(waiting).toContain('Let one go on: phaselock task resume ID --reason TEXT\n')
    expect(await place.json(['status'])).toMatchObject({ parked: [{ status: 'parked' }] })
  })
})

describe('a server that was started for a folder elsewhere', () => {
  it(
    '[REQ-BYHAND-14] [REQ-BYHAND-18] names commands that reach it from where it was started, and webhooks that get nothing',
    async () => {
      await built()
      const place = latePlace()
      const webhooks = 'webhooks: [{url: "https://example.org/x", events: [task_parked], secret_env_var: NOT_SET}]\n'
      writeFileSync(join(place.work, 'agent_workflow.yaml'), PLAIN.replace('[AGENT]', '[]') + webhooks)
      const state = join(place.home, 'state of mine')
      const log = join(place.home, 'said')
      const serve = (...args: readonly string[]) =>
        spawn('sh', ['-c', `exec "$0" "$@" > '${log}'`, process.execPath, SCRIPT, 'serve', '--port', '0', ...args], {
          cwd: place.home,
          env: place.environment,
          stdio: 'ignore',
        })
      for (const [args, expected] of [
        [['--state-dir', state], `status --state-dir '${state}'`],
        [[], 'status --state-dir /'],
      ] as const) {
        // It names a variable of the server, so somebody has to vouch for it: naming it does.
        const contract = join(place.work, 'agent_workflow.yaml')
        const child = serve('--workspace', place.work, '--contract', contract, ...args)
        const said = await until(
          () => {
            try {
              return readFileSync(log, 'utf8')
            } catch {
              return ''
            }
          },
          (text) => text.includes('Ctrl-C stops.'),
        )
        expect(said).toContain(expected)
        expect(said).toContain('Webhooks   NOT SENT to https://example.org: the variable NOT_SET is not set\n')
        const line = /3\. See what happens: +(.*)/.exec(said)?.[1] ?? ''
        const typed = spawn('sh', ['-c', line], { cwd: place.home, env: place.environment, stdio: 'ignore' })
        expect(await new Promise((resolve) => typed.once('close', resolve))).toBe(0)
        child.kill('SIGTERM')
        await new Promise((resolve) => child.once('close', resolve))
        writeFileSync(log, '')
      }
    },
    RUN_MS_MAX,
  )
})
