import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { UpstreamLimits } from '../../../src/tools/upstream/upstream.js'
import { detailOf, ref, SECRET, Stage, stdio, textOf } from './harness.js'

const stages: Stage[] = []
function stage(limits: Partial<UpstreamLimits> = {}, environment?: Readonly<Record<string, string>>): Stage {
  const made = new Stage(limits, environment)
  stages.push(made)
  return made
}
afterEach(async () => {
  const left = stages.splice(0)
  await Promise.all(left.map((one) => one.close()))
  expect(left.map((one) => one.unconfined.running).filter((running) => running > 0)).toEqual([])
})

describe('a server that misbehaves', () => {
  it.each([
    ['never answers', 'hang', {}, 'no answer within 1 seconds (timed out)'],
    ['dies in the middle', 'die', {}, 'the server ended (exit code 3); it last said: out of luck'],
    ['closes its output', 'close_output', {}, 'the server closed its output'],
    ['sends lines that are not JSON', 'no_json', {}, 'the server sent more than 100 lines that are not JSON'],
    ['sends what is no message', 'no_message', {}, 'the server sent something that is not a message of the protocol'],
    ['sends a result of the wrong shape', 'wrong_result', {}, 'Invalid result'],
    ['sends no result', 'no_result', {}, 'the server '],
    ['sends a value nested too deeply', 'deep', {}, 'nested too deeply'],
    ['sends a message nested without measure', 'deeper', {}, 'the server '],
    ['sends messages without end', 'flood', {}, 'the server sent more than'],
    ['sends a line without end', 'endless_line', {}, 'the server sent a line of more than 4194304 bytes'],
    ['sends a line that is too long', 'huge_line', { bytes: 5_000_000 }, 'a line of more than 4194304 bytes'],
    ['complains without end', 'stderr_flood', {}, 'bytes between two requests'],
    ['answers with what its schema does not allow', 'typed', { n: 'seven' }, 'does not match the tool'],
    ['leaves out what its schema promises', 'untyped', {}, 'did not return structured content'],
  ])(
    '[REQ-UPSTREAM-7] that %s fails the call in time, and the next call finds one that works',
    async (_name, tool, args, expected) => {
      const one = stage()
      const server = stdio()
      const pins = await one.pins(server)
      const timeoutMs = tool === 'hang' ? 1000 : 10_000
      const began = performance.now()
      const result = await one.callPinned(server, { tool, args, pins }, { timeoutMs })
      expect(performance.now() - began).toBeLessThan(timeoutMs + 1500)
      expect(result).toMatchObject({ outcome: { ok: false, code: 'tool_failed' }, changes: null })
      expect(detailOf(result)).toContain(expected)
      expect(textOf(await one.callPinned(server, { tool: 'echo', args: { text: 'hi' }, pins }))).toBe('hi')
    },
  )

  it.each([
    ['does not shake hands', '--mute', 'no answer within 1 seconds (timed out)'],
    ['does not list its tools', '--mute-list', 'no answer within 1 seconds (timed out)'],
    ['dies at the start', '--dead', 'the server ended (exit code 7); it last said: cannot find my configuration'],
    ['lists without end', '--endless-list', 'lists its tools on more than 20 pages'],
    ['lists too much', '--many', 'lists more than 500 tools'],
    ['lists a tool twice', '--twice', 'lists the tool "echo" twice'],
    ['lists what is no tool', '--wrong-list', 'the server '],
  ])('[REQ-UPSTREAM-7] that %s cannot be listed', async (_name, flag, expected) => {
    const one = stage()
    const timeoutMs = flag.startsWith('--mute') ? 1000 : 10_000
    const listing = await one.upstream.listTools(stdio({}, flag), one.place({ timeoutMs }))
    expect(listing).toMatchObject({ ok: false, code: 'tool_failed', detail: expect.stringContaining(expected) })
  })

  it('[REQ-UPSTREAM-7] that is not there cannot be listed', async () => {
    const one = stage()
    const listing = await one.upstream.listTools(stdio({ command: '/nowhere/at/all' }), one.place())
    expect(listing).toMatchObject({ ok: false, code: 'tool_failed', detail: expect.stringContaining('ENOENT') })
  })

  it('[REQ-UPSTREAM-7] a start that hangs ends at the time limit, and what comes up late is ended', async () => {
    const one = stage()
    let comeUp = (): void => undefined
    const late = new Promise<void>((resolve) => {
      comeUp = resolve
    })
    const slow = new Stage({ startMs: 300 })
    const { Upstream } = await import('../../../src/tools/upstream/upstream.js')
    const upstream = new Upstream({
      start: async (job) => {
        await late
        return one.unconfined.start(job)
      },
      environment: () => undefined,
      version: '0',
      limits: { startMs: 300 },
    })
    const listing = await upstream.listTools(stdio(), slow.place({ timeoutMs: 600 }))
    expect(listing).toMatchObject({ ok: false, code: 'tool_failed' })
    comeUp()
    await expect.poll(() => one.unconfined.settled).toEqual(['discarded'])
    await upstream.close()
    await slow.close()
  })

  it('[REQ-UPSTREAM-7] a call that is stopped ends at once', async () => {
    const one = stage()
    const server = stdio()
    const pins = await one.pins(server)
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 100)
    const result = await one.callPinned(server, { tool: 'hang', args: {}, pins }, { signal: stop.signal })
    expect(detailOf(result)).toBe('up.hang: the call was stopped')
  })

  it("[REQ-UPSTREAM-7] the time limit of the server's entry holds where it is shorter", async () => {
    const one = stage()
    const server = stdio({ timeoutSeconds: 1 })
    expect(detailOf(await one.call(server, 'hang'))).toContain('no answer within 1 seconds')
  })

  it('[REQ-UPSTREAM-7] answers to other questions and a little noise do no harm', async () => {
    const one = stage()
    expect(textOf(await one.call(stdio(), 'wrong_ids'))).toBe('yours')
    expect(textOf(await one.call(stdio(), 'a_little_noise'))).toBe('fine')
  })

  it('[REQ-UPSTREAM-7] a server that asks back is offered nothing', async () => {
    const one = stage()
    expect(textOf(await one.call(stdio(), 'asks_back'))).toBe('-32601 -32601 -32601 {}')
  })
})

describe('what a server is given', () => {
  it('[REQ-UPSTREAM-2] a variable that is not set is a failure that names it, and nothing is started', async () => {
    const one = stage({}, {})
    const server = stdio({ env: new Map([['TOKEN', ref('SECRET')]]) })
    const listing = await one.upstream.listTools(server, one.place())
    expect(listing).toEqual({
      ok: false,
      code: 'tool_failed',
      detail: 'up: the server needs SECRET, which the environment of the server does not have',
    })
    expect(one.unconfined.jobs).toEqual([])
  })

  it.each(['ORCHESTRATOR_JWT_SECRET', 'PHASELOCK_OPERATOR_TOKEN'])(
    '[REQ-UPSTREAM-2] %s is not given to any server',
    async (name) => {
      const one = stage({}, { [name]: 'the key to everything' })
      const listing = await one.upstream.listTools(stdio({ env: new Map([['A', ref(name)]]) }), one.place())
      expect(listing).toMatchObject({ ok: false, detail: expect.stringContaining(`needs ${name}`) })
      expect(one.unconfined.jobs).toEqual([])
    },
  )

  it('[REQ-UPSTREAM-2] its environment is what its entry says and nothing of ours', async () => {
    process.env.PHASELOCK_TEST_LEAK = 'leaked'
    const one = stage()
    const env = new Map([
      ['MODE', 'fast'],
      ['AUTH', `Bearer ${ref('SECRET')}`],
    ])
    const seen = textOf(await one.call(stdio({ env }), 'env'))
    delete process.env.PHASELOCK_TEST_LEAK
    expect(seen).not.toContain('leaked')
    expect(one.unconfined.jobs.map((job) => job.env)).toEqual([{ MODE: 'fast', AUTH: `Bearer ${SECRET}` }])
  })

  const leaky = stdio({ env: new Map([['TOKEN', ref('SECRET')]]) })

  it('[REQ-UPSTREAM-2] a secret is masked in results, whatever it looks like there', async () => {
    const one = stage()
    const { outcome } = await one.call(leaky, 'leak')
    expect(outcome).toEqual({
      ok: true,
      changes: [],
      result: {
        status: 'success',
        content: 'token=[masked]\n[masked]\n[masked]',
        structured_content: { '[masked]': { deep: ['[masked]'] } },
        truncated: false,
      },
    })
  })

  it.each([
    ['an error of the tool', 'leak_error', 'up.leak_error failed: bad token [masked]'],
    ['an error of the protocol', 'leak_protocol_error', 'no [masked]'],
    ['its last words', 'leak_and_die', 'it last said: '],
  ])('[REQ-UPSTREAM-2] a secret is masked in %s', async (_name, tool, expected) => {
    const one = stage()
    const detail = detailOf(await one.call(leaky, tool))
    expect(detail).toContain(expected)
    expect(detail.replaceAll('[masked]', '')).not.toMatch(/ghp|secret|token\+/)
  })

  it('[REQ-UPSTREAM-2] a secret is masked in the list of tools', async () => {
    const one = stage()
    const [echo] = await one.listed(stdio({ env: new Map([['TOKEN', ref('SECRET')]]) }, '--leaky-list'))
    expect(echo?.description).toBe('Uses [masked].')
  })

  it('[REQ-UPSTREAM-3] tree, network, hidden paths and writing are asked for as the entry says', async () => {
    const one = stage()
    await one.call(stdio(), 'where', {}, { hidden: ['agent_workflow.yaml'] })
    await one.listed(stdio({ network: true }))
    await one.listed(stdio({ writable: ['docs/**'] }))
    const fixed = { tree: one.tree, cwd: '.', git: 'read' }
    expect(one.unconfined.jobs).toMatchObject([
      { ...fixed, network: false, writes: 'read', hidden: [] },
      { ...fixed, network: false, writes: 'read', hidden: ['agent_workflow.yaml'] },
      { ...fixed, network: true, writes: 'read' },
      { ...fixed, network: false, writes: 'keep' },
    ])
  })
})

describe('a server that may write', () => {
  const writer = stdio({ writable: ['docs/**', 'notes/*/log.md'] })

  it('[REQ-UPSTREAM-4] a change outside of what its entry lists drops all of them', async () => {
    const one = stage()
    const result = await one.call(writer, 'write', { path: 'src/a.ts', content: 'x' })
    expect(result).toMatchObject({
      changes: null,
      outcome: { ok: false, code: 'constraint_violation', extra: { paths: ['src', 'src/a.ts'] } },
    })
    expect(one.unconfined.settled).toEqual(['discarded', 'discarded'])
    expect(existsSync(join(one.tree, 'src'))).toBe(false)
  })

  it.each([
    ['fails', 'write_and_fail', 'tool_failed'],
    ['hangs', 'write_and_hang', 'timed out'],
  ])('[REQ-UPSTREAM-4] a call that %s changes nothing', async (_name, tool, expected) => {
    const one = stage()
    writeFileSync(join(one.tree, 'docs'), '')
    const pins = await one.pins(writer)
    const result = await one.callPinned(writer, { tool, args: { path: 'docs' }, pins }, { timeoutMs: 2000 })
    expect(result.changes).toBeNull()
    expect(JSON.stringify(result.outcome)).toContain(expected)
    expect(one.unconfined.settled).toEqual(['discarded', 'discarded'])
  })

  it('[REQ-UPSTREAM-4] a server that does not end loses its changes', { timeout: 20_000 }, async () => {
    const one = stage()
    const server = stdio({ writable: ['docs/**'] }, '--stays')
    const result = await one.call(server, 'write', { path: 'docs/a.md', content: 'x' })
    expect(detailOf(result)).toContain('did not exit when its input was closed')
    expect(one.unconfined.settled).toEqual(['discarded', 'discarded'])
  })

  it('[REQ-UPSTREAM-4] a change within its entry is handed on and not made yet', async () => {
    const one = stage()
    const result = await one.call(writer, 'write', { path: 'notes/today/log.md', content: 'hello' })
    const paths = ['notes', 'notes/today', 'notes/today/log.md']
    expect(result.outcome).toMatchObject({ ok: true, result: { content: 'written' } })
    expect(result.outcome.ok && result.outcome.changes.map(({ path }) => path)).toEqual(paths)
    expect(existsSync(join(one.tree, 'notes'))).toBe(false)
    await result.changes?.commit([], async () => ({ ok: true }))
    expect(readFileSync(join(one.tree, 'notes/today/log.md'), 'utf8')).toBe('hello')
    expect(one.unconfined.settled).toEqual(['discarded', 'committed'])
  })

  it('[REQ-UPSTREAM-4] each call has its own server', async () => {
    const one = stage()
    const pins = await one.pins(writer)
    const count = async () => {
      const result = await one.callPinned(writer, { tool: 'count', args: {}, pins })
      await result.changes?.discard()
      return textOf(result).split(' ')
    }
    const [[first, one1], [second, one2]] = [await count(), await count()]
    expect([one1, one2, first === second]).toEqual(['1', '1', false])
    expect(one.unconfined.running).toBe(0)
  })

  it('[REQ-UPSTREAM-4] no more than a number of them run at once', async () => {
    const one = stage({ onceMax: 1 })
    const pins = await one.pins(writer)
    const call = (tool: string) => one.callPinned(writer, { tool, args: {}, pins }, { timeoutMs: 1500 })
    const [slow, refused] = await Promise.all([call('hang'), call('count')])
    expect(detailOf(slow)).toContain('timed out')
    expect(detailOf(refused)).toContain('1 servers that write are running already')
  })
})

describe('a server that is kept', () => {
  it('[REQ-UPSTREAM-5] calls in one tree share it, calls in another tree or with other hidden paths do not', async () => {
    const one = stage()
    const server = stdio()
    const pins = await one.pins(server)
    const pid = async (about = {}) =>
      textOf(await one.callPinned(server, { tool: 'count', args: {}, pins }, about)).split(' ')[0]
    const first = await pid()
    expect(await pid()).toBe(first)
    expect(await pid({ hidden: ['secret.md'] })).not.toBe(first)
    expect(await pid({ tree: '/tmp' })).not.toBe(first)
    expect(one.unconfined.jobs).toHaveLength(3)
  })

  it('[REQ-UPSTREAM-5] calls at the same time start it once', async () => {
    const one = stage()
    const listings = await Promise.all([1, 2, 3].map(() => one.listed(stdio())))
    expect(new Set(listings.map(({ length }) => length)).size).toBe(1)
    expect(one.unconfined.jobs).toHaveLength(1)
  })

  it('[REQ-UPSTREAM-5] one that died between two calls is started again', async () => {
    const one = stage()
    const server = stdio()
    const pins = await one.pins(server)
    const pid = async () => textOf(await one.callPinned(server, { tool: 'count', args: {}, pins })).split(' ')[0]
    const first = await pid()
    process.kill(Number(first), 'SIGKILL')
    await expect.poll(() => one.unconfined.running).toBe(0)
    expect(await pid()).not.toBe(first)
  })

  it('[REQ-UPSTREAM-5] one that dies just before a call is started again within it', async () => {
    const one = stage()
    const server = stdio()
    const pins = await one.pins(server)
    const pid = async () => textOf(await one.callPinned(server, { tool: 'count', args: {}, pins })).split(' ')[0]
    const first = await pid()
    process.kill(Number(first), 'SIGKILL')
    expect(await pid()).not.toBe(first)
  })

  it('[REQ-UPSTREAM-5] one that nobody uses is ended', async () => {
    const one = stage({ idleMs: 200 })
    await one.listed(stdio())
    expect(one.unconfined.running).toBe(1)
    await expect.poll(() => one.unconfined.running).toBe(0)
    expect(one.unconfined.settled).toEqual(['discarded'])
  })

  it('[REQ-UPSTREAM-5] one that ran for as long as it may is started again', async () => {
    const one = stage({ lifeMs: 700 })
    await one.listed(stdio())
    await expect.poll(() => one.unconfined.running).toBe(0)
    await one.listed(stdio())
    expect(one.unconfined.jobs).toHaveLength(2)
  })

  it('[REQ-UPSTREAM-5] the least used one makes room for another, and none that is at work', async () => {
    const one = stage({ serversMax: 2 })
    const server = (n: number) => stdio({ env: new Map([['N', String(n)]]) })
    const pins = await one.pins(server(1))
    await one.listed(server(2))
    const hanging = one.callPinned(server(1), { tool: 'hang', args: {}, pins }, { timeoutMs: 3000 })
    await one.listed(server(3))
    await expect.poll(() => one.unconfined.running).toBe(2)
    const also = one.callPinned(server(3), { tool: 'hang', args: {}, pins }, { timeoutMs: 3000 })
    const refused = await one.upstream.listTools(server(4), one.place())
    expect(refused).toMatchObject({ ok: false, detail: expect.stringContaining('2 servers are running already') })
    expect([detailOf(await hanging), detailOf(await also)].every((detail) => detail.includes('timed out'))).toBe(true)
  })

  it('[REQ-UPSTREAM-5] it works on no more than a number of calls at once', async () => {
    const one = stage({ callsMax: 1 })
    const server = stdio()
    const pins = await one.pins(server)
    const call = (tool: string) => one.callPinned(server, { tool, args: {}, pins }, { timeoutMs: 1000 })
    const [slow, refused] = await Promise.all([call('hang'), call('count')])
    expect([detailOf(slow).includes('timed out'), detailOf(refused).includes('1 calls already')]).toEqual([true, true])
  })

  it('[REQ-UPSTREAM-5] after the tree changed, new calls get a new one and running calls keep theirs', async () => {
    const one = stage()
    const server = stdio()
    const pins = await one.pins(server)
    const asking = one.callPinned(server, { tool: 'asks_back', args: {}, pins })
    await expect.poll(() => one.unconfined.jobs.length).toBe(1)
    one.upstream.endTree(one.tree, 'idle')
    expect(textOf(await one.callPinned(server, { tool: 'echo', args: { text: 'a' }, pins }))).toBe('a')
    expect(one.unconfined.jobs).toHaveLength(2)
    expect(textOf(await asking)).toContain('-32601')
    await expect.poll(() => one.unconfined.running).toBe(1)
  })

  it('[REQ-UPSTREAM-5] when nothing may work in a tree any more, everything in it ends', async () => {
    const one = stage()
    const writer = stdio({ writable: ['docs/**'] })
    const pins = await one.pins(stdio())
    const calls = [stdio(), writer].map((server) => one.callPinned(server, { tool: 'hang', args: {}, pins }))
    await expect.poll(() => one.unconfined.running).toBe(2)
    one.upstream.endTree(one.tree, 'now')
    for (const call of calls) expect(detailOf(await call)).toBe('up.hang: the call was stopped')
    await expect.poll(() => one.unconfined.running).toBe(0)
  })

  it('[REQ-UPSTREAM-5] after it was closed nothing runs and nothing is started', async () => {
    const one = stage()
    const server = stdio()
    const pins = await one.pins(server)
    const hanging = one.callPinned(server, { tool: 'hang', args: {}, pins })
    await one.upstream.close()
    expect(one.unconfined.running).toBe(0)
    expect(detailOf(await hanging)).toBe('up.hang: the call was stopped')
    expect(await one.callPinned(server, { tool: 'echo', args: { text: 'a' }, pins })).toMatchObject({
      outcome: { ok: false, code: 'shutting_down' },
    })
    expect(one.unconfined.jobs).toHaveLength(1)
  })
})
