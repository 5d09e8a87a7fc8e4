import { execFile } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { toTaskRow } from '../../src/app/ledger/task-row.js'
import { startOfWork } from '../../src/app/test-runs/start-of-work.js'
import { sha256Hex } from '../../src/base/sha256.js'
import { built, ROOT } from '../cli/program.js'
import { sectionsOf } from '../docs/blocks.js'
import { type Running, start } from './harness.js'

const CONTRACT = `
name: stashed
version: "1"
phases:
  - id: PLAN
    allowed_tools: [write_files]
    tool_constraints: {write_files: {allowed_patterns: ["docs/**"]}}
  - id: CODE
    allowed_tools: [write_files, bash]
    tool_constraints: {write_files: {allowed_patterns: ["src/**", "docs/**"]}}
  - id: DONE
    allowed_tools: []
enforcement: {reconcile: block}
`
const STASH = 'st-0e4609b72aa4'
const AS_BEFORE = { 'src/kept': 'kept\n', 'src/gone': 'gone\n', 'docs/plan': 'old plan\n' }
const PATHS = ['docs/plan', 'src/deep/new', 'src/gone', 'src/kept', 'src/link', 'src/new', 'src/other']

describe('a ledger of 0.2.0 with stashes', () => {
  let run: Running
  let token = ''
  const at = (path: string) => join(run.workspace, path)
  const folder = () => join(run.stateDir, 'stashes', STASH)
  const expectWork = () => {
    expect(readFileSync(at('docs/plan'), 'utf8')).toBe('plan\n')
    expect(readFileSync(at('src/kept'), 'utf8')).toBe('changed\n')
    expect(readFileSync(at('src/deep/new'), 'utf8')).toBe('deep\n')
    expect(existsSync(at('src/gone'))).toBe(false)
    expect(statSync(at('src/new')).mode & 0o777).toBe(0o755)
    expect(readlinkSync(at('src/other'))).toBe('deep/new')
    expect(lstatSync(at('src/link')).isFile()).toBe(true)
  }

  /** Appends events of 0.2.0 to the task, with the status that its row had then, and starts the server again. */
  const appendOld = async (status: 'parked' | 'active', facts: readonly { type: string; data: object }[]) => {
    const state = await run.app.ledger.read('t')
    if (state === null) throw new Error('there is no task')
    const envelope = { at: Date.now(), actor: 'operator:admin', epoch: state.epoch, phase: state.phase }
    const appended = await run.app.ledger.store.append({
      stream: 'task:t',
      expectedVersion: state.version,
      events: facts.map(({ type, data }) => ({ ...envelope, contract: state.contract.hash, type, data: { ...data } })),
      task: { ...toTaskRow(state), status },
    })
    expect(appended).toMatchObject({ ok: true })
    run = await run.restart()
  }
  const parked = { type: 'task_parked', data: { reason: 'stashed: something urgent', code: null, stash: STASH } }
  const reverted = {
    type: 'tree_reverted',
    data: { paths: PATHS, path_count: PATHS.length, reason: `stashed as ${STASH}: something urgent` },
  }

  /** Leaves the folder and the work tree as 0.2.0 did. */
  const stash = async () => {
    const keep = (content: string | Buffer): string => {
      const hash = sha256Hex(content)
      writeFileSync(join(folder(), hash), content)
      return `file ${hash}`
    }
    mkdirSync(folder(), { recursive: true })
    const paths = PATHS.map((path) => {
      const was = Object.hasOwn(AS_BEFORE, path) ? keep(AS_BEFORE[path as keyof typeof AS_BEFORE]) : null
      if (path === 'src/gone') return { path, was, now: null, expected: null, mode: null }
      if (path === 'src/other') return { path, was, now: 'link deep/new', expected: 'link ?', mode: null }
      const now = keep(readFileSync(at(path)))
      return {
        path,
        was: path === 'src/link' ? 'link kept' : was,
        now,
        expected: now,
        mode: statSync(at(path)).mode & 0o777,
      }
    })
    const about = { id: STASH, taskId: 't', tree: run.workspace, name: null, reason: 'something urgent', phase: 'CODE' }
    const plan = { ...about, actor: 'operator:admin', savedAt: Date.now(), stage: 'saved', bytes: 52, paths }
    writeFileSync(join(folder(), 'plan.json'), JSON.stringify(plan))
    for (const path of PATHS) rmSync(at(path), { force: true })
    for (const [path, content] of Object.entries(AS_BEFORE)) writeFileSync(at(path), content)
    symlinkSync('kept', at('src/link'))
    await run.app.trees.acceptAsIs(run.workspace, PATHS)
    await appendOld('parked', [parked, reverted])
  }
  const operate = (command: string, body: object = {}) =>
    run.call('POST', `/tasks/t/${command}`, run.operator, { reason: 'go on', ...body })
  const readTask = async () => (await run.call('GET', '/tasks/t', run.operator)).body

  /** The commands of docs/operate.md, and how a reader executes them. */
  const readPage = () => {
    const section = sectionsOf('docs/operate.md', 3).get('Work that 0.2.0 stashed') ?? ''
    const [, unpack = '', putBack = ''] = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block ?? '')
    const cwd = join(run.workspace, '..', 'by-hand')
    mkdirSync(cwd)
    const variables = { STASH: folder(), TREE: run.workspace, TASK: 't' }
    const connection = { PHASELOCK_URL: run.url, PHASELOCK_OPERATOR_TOKEN: run.operator }
    const env = { ...process.env, ...variables, ...connection, PATH: `${ROOT}/bin${delimiter}${process.env.PATH}` }
    const execute = (script: string) => promisify(execFile)('bash', ['-e', '-c', script], { cwd, env })
    return { unpack, putBack, execute, cwd }
  }

  beforeAll(built)
  beforeEach(async () => {
    run = await start({ contract: CONTRACT })
    for (const name of ['src', 'docs']) mkdirSync(at(name))
    for (const [path, content] of Object.entries(AS_BEFORE)) writeFileSync(at(path), content)
    symlinkSync('kept', at('src/link'))
    await run.addTask({ id: 't', title: 'First' })
    token = await run.claim('a', await run.addAgent('a'), 't')
    const execute = (tool_name: string, args: object) =>
      run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })
    expect(await execute('write_files', { path: 'docs/plan', content: 'plan\n' })).toMatchObject({ status: 200 })
    const moved = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase: 'CODE' })
    token = String(moved.body.phase_token)
    const command = `rm src/gone; mkdir src/deep; echo changed > src/kept; echo deep > src/deep/new
      printf '#!/bin/sh\\n' > src/new; chmod 755 src/new; ln -s deep/new src/other; rm src/link; echo file > src/link`
    expect(await execute('bash', { command })).toMatchObject({ status: 200 })
    expectWork()
  })
  afterEach(async () => {
    expect(run.faults).toEqual([])
    await run.stop()
  })

  it('[REQ-STASH-13] opens, verifies, is exported and shows the task as it was', async () => {
    await stash()
    expect(await readTask()).toMatchObject({
      status: 'parked',
      stash: STASH,
      parked_reason: 'stashed: something urgent',
    })
    const timeline = (await run.call('GET', '/tasks/t/timeline', run.operator)).body.events as { data: object }[]
    expect(timeline.slice(-2)).toMatchObject([parked, reverted])
    expect(await run.call('GET', '/audit/verify', run.operator)).toMatchObject({ body: { ok: true, problems: [] } })
    const exported = await fetch(`${run.url}/api/v1/audit/export`, {
      headers: { authorization: `Bearer ${run.operator}` },
    })
    expect(await exported.text()).toContain(STASH)
    expect(await run.call('GET', '/runs/t/report', run.operator)).toMatchObject({ status: 200 })
    expect(await run.call('GET', '/inbox', run.operator)).toMatchObject({ body: { items: [{ task_id: 't' }] } })
    expect(await operate('cancel')).toMatchObject({ status: 200, body: { status: 'cancelled' } })
    expect(readdirSync(folder())).toContain('plan.json')
  })

  it.each([
    ['put back', false],
    ['half put back by a server that was killed', true],
  ])('[REQ-STASH-14] a task whose tree was %s goes on with its work and not without', async (_, isHalf) => {
    await stash()
    if (isHalf) {
      writeFileSync(at('src/kept'), 'changed\n')
      rmSync(at('src/gone'))
    }
    const sentence = 'Phaselock 0.2.0 stashed the work of task t'
    expect(await operate('resume')).toMatchObject({
      status: 409,
      body: {
        detail: `${sentence}: it is in ${folder()}, not in the work tree.`,
        remedy: expect.stringContaining('docs/'),
      },
    })
    for (const [command, body] of [
      ['rewind', { to_phase: 'PLAN' }],
      ['rewind', { to_phase: 'PLAN', restore_tree: true }],
      ['reassign', {}],
    ] as const)
      expect(await operate(command, body)).toMatchObject({
        status: 409,
        body: { detail: `${sentence} as ${STASH}. Resume it first.` },
      })

    const { unpack, putBack, execute } = readPage()
    expect((await execute(unpack)).stdout).toBe('deleted: src/gone\n')
    rmSync(at('src/gone'), { force: true })
    await execute(putBack)
    expectWork()
    expect(await readTask()).toMatchObject({ status: 'active', stash: null })
    // The agent goes on with the token it had, and nothing in the tree is unexplained.
    const moved = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase: 'DONE' })
    expect(moved).toMatchObject({ body: { allowed: true } })
  })

  it('[REQ-STASH-14] a stored file that was damaged is found before anything is unpacked', async () => {
    await stash()
    writeFileSync(join(folder(), sha256Hex('changed\n')), 'other')
    const { unpack, execute, cwd } = readPage()
    await expect(execute(unpack)).rejects.toMatchObject({ stdout: `${sha256Hex('changed\n')}: FAILED\n` })
    expect(existsSync(join(cwd, 'unstashed'))).toBe(false)
  })

  it('[REQ-STASH-13] a task whose stash was dropped goes on', async () => {
    const dropped = { ...parked, data: { reason: `its stash ${STASH} was dropped: no`, code: null, stash: null } }
    await appendOld('parked', [parked, reverted, dropped])
    expect(await readTask()).toMatchObject({ status: 'parked', stash: null })
    expect(await operate('resume')).toMatchObject({ status: 200, body: { status: 'active' } })
  })

  it.each([
    ['of its own', `stash ${STASH} popped: go on`, false],
    ['that an operator accepted', 'I looked at it', true],
  ])('[REQ-STASH-15] a restored task has changes %s', async (_, reason, isPermitted) => {
    const resumed = { type: 'task_resumed', data: { reason, keeps_agent: true, lease_seconds: 900 } }
    const accepted = { type: 'tree_accepted', data: { paths: PATHS, path_count: PATHS.length, reason } }
    await appendOld('active', [parked, reverted, resumed, accepted])
    expect(await readTask()).toMatchObject({ status: 'active', stash: null })
    const state = await run.app.ledger.read('t')
    if (state === null) throw new Error('there is no task')
    const contract = await run.app.contracts.get(state.contract.hash)
    expect(await startOfWork(run.app, contract, state).isPermitted('src/kept')).toBe(isPermitted)
  })
})
