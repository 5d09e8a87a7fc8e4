import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { begin, CONTRACT, countEvents, findUnexplained, OPERATIONS } from './operations.js'
import { EndingServer } from './walk.js'

const NOTHING = 'Nothing in the work tree changed without an allowed call.'
const WRITE = OPERATIONS.find(({ name }) => name.includes('several files'))

describe('a tree that is away when its interrupted call is to be settled', () => {
  let server: EndingServer
  // The server itself does not start without the tree that it is given.
  let given: string
  beforeEach(() => {
    given = mkdtempSync(join(tmpdir(), 'phaselock-given-'))
  })
  afterEach(async () => {
    await server.remove()
    rmSync(given, { recursive: true, force: true })
  })

  it.each([
    { when: 'half-way', within: 'swapIn', step: 2, recorded: 0 },
    { when: 'after its event', within: 'removeKept', step: 1, recorded: 1 },
  ])('[REQ-WHOLE-11] keeps the call for its return: killed $when', async ({ within, step, recorded }) => {
    if (WRITE === undefined) throw new Error('there is no such call')
    server = new EndingServer(CONTRACT, { words: ['--workspace', given] })
    const stage = await begin(server)
    await WRITE.prepare(stage, 1)
    const before = await countEvents(stage, WRITE.event)
    const call = { ...WRITE.call(stage, 1), key: 'once' }
    server.endWithin(within, step)
    expect(await server.ask(call)).toBe(null)
    await server.waitForEnd()
    const away = `${server.workspace}.away`
    renameSync(server.workspace, away)

    await server.start()
    const other = { id: 'other', title: 'Other' }
    expect(await server.call({ path: '/tasks', token: server.operator, body: other })).toMatchObject({ status: 201 })
    const refused = await server.call({ ...call, key: 'another' })
    expect(refused).toMatchObject({ status: 409, body: { code: 'tree_missing' } })
    expect((await countEvents(stage, WRITE.event)) - before).toBe(recorded)

    renameSync(away, server.workspace)
    expect(await server.call(call)).toMatchObject({ status: 200 })
    expect((await countEvents(stage, WRITE.event)) - before).toBe(1)
    // What is left of the call goes with the next change.
    await WRITE.prepare(stage, 2)
    expect(await findUnexplained(stage)).toBe(NOTHING)
    expect(WRITE.look(stage, 1)).toBe(WRITE.expected(stage, 1))
  })
})
