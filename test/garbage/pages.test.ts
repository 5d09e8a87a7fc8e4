import { describe, expect, it } from 'vitest'
import { start } from '../http/harness.js'
import { Chance } from './chance.js'
import { Client } from './client.js'
import { changesOf, type Operation, requestOf } from './mutate.js'
import { problemFault, SEED } from './throw-garbage.js'

const PAGES = ['/', '/health', '/ready', '/metrics', '/docs', '/docs/errors', '/style.css', '/schemas/{name}']
const PER_PAGE = 60

describe(`garbage at what needs no token (seed ${SEED})`, () => {
  it.each(PAGES)('[REQ-GARBAGE-5] %s answers malformed requests without a fault', async (path) => {
    const run = await start()
    const client = new Client(run.port)
    // One right token for all: it is no use here, and must not be shown.
    const base = path.includes('{') ? { params: { name: 'agent_workflow.schema.json' } } : {}
    const operation: Operation = { id: path, method: 'GET', path, body: null, query: new Map() }
    const changes = new Chance(SEED, path).shuffled(changesOf(operation, base)).slice(0, PER_PAGE)
    for (const change of changes) {
      const made = requestOf(operation, base, change.apply(base), run.operator)
      const sent = { ...made, target: made.target.replace('/api/v1', '') }
      const got = await client.send(sent)
      expect(got.status, change.name).toBeLessThan(500)
      if (got.status >= 300) expect(problemFault(got), `${change.name}: ${got.text}`).toBeNull()
      for (const secret of [run.operator, run.stateDir, 'node_modules']) expect(got.text).not.toContain(secret)
    }
    client.close()
    expect(run.faults).toEqual([])
    await run.stop()
  })
})
