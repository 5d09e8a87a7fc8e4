import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { built, Place, type Server } from './program.js'

beforeAll(built)
const place = new Place()
const RUN_MS_MAX = 300_000
// The sandbox itself is not looked at here, and trying it takes time.
const QUICK = ['--confinement', 'none']

async function call(server: Server, method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const token = readFileSync(join(server.stateDir, 'operator.token'), 'utf8').trim()
  const answer = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return (await answer.json()) as Record<string, unknown>
}

async function findHash(server: Server): Promise<unknown> {
  const { contracts } = (await call(server, 'GET', '/contracts')) as { contracts: Record<string, unknown>[] }
  return contracts.find((contract) => contract.default === true)?.hash
}

async function stop(server: Server): Promise<void> {
  server.kill('SIGTERM')
  await server.ended
}

test(
  '[REQ-EXTENDS-9] a changed base counts after `trust` only, and a task keeps the contract that it began with',
  async () => {
    const base = join(place.work, 'flows/base.yaml')
    const text = 'name: ours\nversion: "1"\nphases: [{id: A, prompt: first, allowed_tools: [bash]}, {id: B}]\n'
    mkdirSync(join(place.work, 'flows'))
    writeFileSync(join(place.work, 'agent_workflow.yaml'), 'extends: flows/base.yaml\n')
    writeFileSync(base, text)
    const { hash } = await place.json(['trust', '--yes'])
    const first = await place.serve(QUICK)
    expect(await findHash(first)).toBe(hash)
    await call(first, 'POST', '/tasks', { title: 'Begun before', id: 'before' })
    await stop(first)

    writeFileSync(base, text.replace('first', 'second'))
    const second = await place.serve(QUICK)
    expect(await findHash(second), 'the accepted text is used').toBe(hash)
    expect(second.output()).toMatch(/agent_workflow\.yaml or what it extends was changed.*\n.*phaselock trust/)
    await stop(second)

    writeFileSync(base, 'name: [')
    const third = await place.serve(QUICK)
    expect(await findHash(third), 'a base that does not load changes nothing').toBe(hash)
    await stop(third)

    writeFileSync(base, text.replace('first', 'second'))
    const accepted = await place.json(['trust', '--yes'])
    expect(accepted.hash).not.toBe(hash)
    expect(JSON.stringify(accepted.changes)).toContain('prompt')
    const fourth = await place.serve(QUICK)
    expect(await findHash(fourth)).toBe(accepted.hash)
    expect(JSON.stringify(await call(fourth, 'GET', '/tasks/before'))).toContain(String(hash))
    await stop(fourth)
  },
  RUN_MS_MAX,
)

test(
  '[REQ-EXTENDS-9] `contract add` sends what the contract extends with it',
  async () => {
    const server = await place.serve(QUICK)
    writeFileSync(join(place.work, 'other.yaml'), 'extends: flows/base.yaml\nname: other\n')
    const added = await place.json(['contract', 'add', 'other.yaml'])
    expect(added).toMatchObject({ name: 'other' })
    expect((await place.json(['explain', 'other.yaml'])).hash).toBe(added.hash)
    await stop(server)
  },
  RUN_MS_MAX,
)
