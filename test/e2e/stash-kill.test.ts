import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makePlace, serve } from './process.js'

const CONTRACT = `
name: killed
version: "1"
phases:
  - id: CODE
    allowed_tools: [write_files]
    tool_constraints: {write_files: {allowed_patterns: ["src/**"]}}
  - {id: DONE, allowed_tools: []}
enforcement: {reconcile: block}
`
const FILES = 120
const POLL_MS = 1
const ANSWER_MS_MAX = 20_000

describe('kill -9 while a task is put aside or brought back', () => {
  it('[REQ-STASH-10] the tree and the ledger agree at the next start: all of the work is there, or none', async () => {
    const place = await makePlace()
    const contract = join(place.dir, 'contract.yaml')
    writeFileSync(contract, CONTRACT)
    mkdirSync(join(place.workspace, 'src'))
    const names = Array.from({ length: FILES }, (_, at) => `src/f${at}`)
    // Every third is new, the others are changed.
    const isOld = (at: number): boolean => at % 3 !== 0
    for (const [at, name] of names.entries()) if (isOld(at)) writeFileSync(join(place.workspace, name), `old ${at}`)
    // Read while the server removes and writes them.
    const there = (name: string): string | null => {
      try {
        return readFileSync(join(place.workspace, name), 'utf8')
      } catch (error) {
        expect((error as NodeJS.ErrnoException).code).toBe('ENOENT')
        return null
      }
    }
    const sideOf = (): 'with' | 'without' | 'mixed' => {
      const isWith = names.every((name, at) => there(name) === `new ${at}`)
      const isWithout = names.every((name, at) => there(name) === (isOld(at) ? `old ${at}` : null))
      return isWith ? 'with' : isWithout ? 'without' : 'mixed'
    }
    let server = await serve(place, contract)
    await server.call('POST', '/tasks', server.operator, { title: 'Killed', id: 't' })
    const { body: agent } = await server.call('POST', '/agents', server.operator, { agent_id: 'a' })
    const claimed = await server.call('POST', '/tasks/claim', String(agent.agent_token), { agent_id: 'a' })
    const args = { files: names.map((path, at) => ({ path, content: `new ${at}` })) }
    const token = String(claimed.body.phase_token)
    const wrote = await server.call('POST', '/tools/execute', token, { task_id: 't', tool_name: 'write_files', args })
    expect(wrote.status).toBe(200)
    expect(sideOf()).toBe('with')
    const moved = (share: number) => (from: 'with' | 'without') => {
      const changed = names.filter((name, at) => (there(name) === `new ${at}`) === (from === 'without'))
      return changed.length >= FILES * share
    }
    const folder = join(place.stateDir, 'stashes')
    const isPlanned = () => existsSync(folder) && readdirSync(folder).some((name) => /^st-[0-9a-f]{12}$/.test(name))
    const isWritten = () => existsSync(folder) && readdirSync(folder).length > 0
    const half = moved(0.5)
    const moments = [isWritten, isPlanned, half, moved(0.01), half, moved(1), () => false, half]
    const cuts = { before: 0, after: 0 }
    for (const [kill, isTime] of moments.entries()) {
      const from = sideOf() === 'with' ? 'with' : 'without'
      const stashes = (await server.call('GET', '/stashes', server.operator)).body.stashes as { id: string }[]
      const [stash] = stashes
      const path = stash === undefined ? '/tasks/t/stash' : `/stashes/${stash.id}/pop`
      let status: number | null = null
      const answer = server.call('POST', path, server.operator, { reason: 'r' }).then(
        (answered) => {
          status = answered.status
        },
        // The connection broke because the server was killed.
        () => null,
      )
      for (const until = Date.now() + ANSWER_MS_MAX; Date.now() < until && status === null && !isTime(from); )
        await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      await server.kill()
      await answer
      server = await serve(place, contract)
      const { body: task } = await server.call('GET', '/tasks/t', server.operator)
      const { body } = await server.call('GET', '/stashes', server.operator)
      const side = sideOf()
      expect({
        kill,
        side,
        stash: task.stash,
        stashes: (body.stashes as { status: string }[]).map((one) => one.status),
      }).toEqual(
        task.stash === null
          ? { kill, side: 'with', stash: null, stashes: [] }
          : { kill, side: 'without', stash: task.stash, stashes: ['saved'] },
      )
      // What was acknowledged is so.
      if (status === 201) expect(side).toBe('without')
      if (status === 200) expect(side).toBe('with')
      expect(readdirSync(join(place.workspace, 'src')).filter((name) => name.startsWith('.'))).toEqual([])
      cuts[side === from ? 'before' : 'after'] += 1
    }
    expect(Math.min(cuts.before, cuts.after)).toBeGreaterThan(1)
    expect(await server.stop()).toBe(0)
    place.remove()
  })
})
