import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { makePlace, serve } from '../e2e/process.js'
import { ERAS, McpAgent } from '../mcp/clients.js'

const CONTRACT = new URL('../../contracts/plan-review.yaml', import.meta.url).pathname

async function begin(port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

it('[REQ-API-39] a request that comes while the server stops is told so in a problem document', async () => {
  const place = await makePlace()
  const server = await serve(place, CONTRACT)
  onTestFinished(async () => {
    await server.kill()
    place.remove()
  })
  const host = `Host: 127.0.0.1:${place.port}\r\n`
  // One keeps the server from ending, and the other one has not said yet what it wants.
  const slow = await begin(
    place.port,
    `POST /api/v1/tasks HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
  )
  const late = await begin(place.port, `GET /api/v1/tasks HTTP/1.1\r\n${host}`)
  await new Promise((resolve) => setTimeout(resolve, 200))
  const ended = once(server.child, 'exit')
  server.child.kill('SIGTERM')
  while (!server.output().includes('Stopping')) await new Promise((resolve) => setTimeout(resolve, 20))
  await new Promise((resolve) => setTimeout(resolve, 300))
  late.write('\r\n')
  const [answer] = (await once(late, 'data')) as [Buffer]
  expect(String(answer)).toMatch(/^HTTP\/1\.1 503 /)
  expect(String(answer)).toMatch(/content-type: application\/problem\+json/i)
  expect(String(answer)).toContain('"code":"shutting_down"')
  slow.destroy()
  expect((await ended)[0]).toBe(0)
})

const WORK = `
name: small
version: "1"
enforcement: { confinement: off, reconcile: off }
phases:
  - {id: WORK, allowed_tools: [bash]}
  - {id: DONE, allowed_tools: []}
transitions: [{from: WORK, to: DONE}]
`

it.each(ERAS)(
  '[REQ-NEWEST-7] a call over MCP $name that is under way when the server stops is finished and answered',
  async (era) => {
    const place = await makePlace()
    const contract = join(place.dir, 'small.yaml')
    writeFileSync(contract, WORK)
    const server = await serve(place, contract)
    onTestFinished(async () => {
      await server.kill()
      place.remove()
    })
    await server.call('POST', '/tasks', server.operator, { title: 'One', id: 'one' })
    const added = await server.call('POST', '/agents', server.operator, { agent_id: 'ann' })
    const agent = await McpAgent.connect(`http://127.0.0.1:${place.port}`, String(added.body.agent_token), era)
    onTestFinished(() => agent.client.close())
    await agent.does('claim_task', { task_id: 'one' })
    const done = agent.does('bash', { command: 'echo begun > a.txt; sleep 2; echo done > a.txt' })
    const text = () => {
      try {
        return readFileSync(join(place.workspace, 'a.txt'), 'utf8')
      } catch {
        return ''
      }
    }
    await expect.poll(text).toBe('begun\n')
    const began = Date.now()
    const ended = server.stop()
    expect(await done).toMatchObject({ result: { exit_code: 0 } })
    expect(text()).toBe('done\n')
    expect(await ended).toBe(0)
    // Nobody who only listens is waited for.
    expect(Date.now() - began).toBeLessThan(8000)
  },
)
