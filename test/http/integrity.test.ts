import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/store/database.js'
import { start } from './harness.js'

const settled = async (want: () => boolean) => {
  for (let i = 0; i < 200 && !want(); i += 1) await new Promise((resolve) => setTimeout(resolve, 25))
}

describe('the ledger at start', () => {
  it('[REQ-API-11] a changed byte in the middle is found in the background, recorded, and the server says that it is not ready', async () => {
    const first = await start()
    for (let i = 0; i < 5; i += 1) await first.addTask({ title: `Task ${i}` })
    const dir = join(first.stateDir, '..')
    await first.app.close()
    const database = openDatabase(join(first.stateDir, 'ledger.db'))
    database.exec(`UPDATE event SET data = replace(data, 'Task 2', 'Task X') WHERE data LIKE '%Task 2%'`)
    database.close()
    const second = await start({ dir })
    await settled(() => second.app.integrity() !== 'unchecked')
    expect(second.app.integrity()).toBe('broken')
    expect((await second.call('GET', '/ready', null)).status).toBe(503)
    expect((await second.call('GET', '/health', null)).body.status).toBe('degraded')
    await settled(() => second.faults.length > 0)
    expect(String(second.faults[0])).toContain('failed verification')
    expect((await second.call('GET', '/audit/verify', second.operator)).body).toMatchObject({
      ok: false,
      problems: [{ code: 'changed_event', stream: expect.stringContaining('task:') }],
    })
    await second.stop()
  })

  it('[REQ-API-11] a clean ledger verifies and the server is ready', async () => {
    const run = await start()
    await settled(() => run.app.integrity() !== 'unchecked')
    expect(run.app.integrity()).toBe('ok')
    expect((await run.call('GET', '/ready', null)).status).toBe(200)
    expect(run.faults).toEqual([])
    await run.stop()
  })
})

describe('a disk that is full', () => {
  it('[REQ-API-37] a full disk is 503 store_unavailable, nothing is lost, and work goes on when there is room again', async (context) => {
    const { mkdtempSync, rmSync, writeFileSync } = await import('node:fs')
    const { tmpdir } = await import('node:os')
    const dir = mkdtempSync(join(tmpdir(), 'phaselock-full-'))
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', dir], { stdio: 'ignore' })
    } catch {
      rmSync(dir, { recursive: true, force: true })
      return context.skip('mounting a small tmpfs needs root')
    }
    try {
      const run = await start({ dir })
      const task = await run.addTask({ title: 'Before' })
      let filled = 0
      try {
        for (; filled < 100; filled += 1) writeFileSync(join(dir, `fill-${filled}`), Buffer.alloc(256 * 1024))
      } catch {
        writeFileSync(join(dir, 'fill-last'), '')
      }
      const answers = []
      for (let i = 0; i < 400; i += 1)
        answers.push(
          await run.call('POST', '/tasks', run.operator, { title: `Full ${i}`, description: 'x'.repeat(9000) }),
        )
      const refused = answers.filter((one) => one.status !== 201)
      expect(refused.length).toBeGreaterThan(0)
      for (const one of refused) expect(one).toMatchObject({ status: 503, body: { code: 'store_unavailable' } })
      expect((await run.call('GET', `/tasks/${task}`, run.operator)).body.title).toBe('Before')
      for (let i = 0; i <= filled; i += 1) rmSync(join(dir, `fill-${i}`), { force: true })
      expect((await run.call('POST', '/tasks', run.operator, { title: 'After' })).status).toBe(201)
      for (const one of answers.filter((answer) => answer.status === 201))
        expect((await run.call('GET', `/tasks/${String(one.body.id)}`, run.operator)).status).toBe(200)
      expect((await run.call('GET', '/audit/verify', run.operator)).body).toMatchObject({ ok: true })
      await run.app.close()
    } finally {
      execFileSync('umount', ['-l', dir])
      rmSync(dir, { recursive: true, force: true })
    }
  })
})
