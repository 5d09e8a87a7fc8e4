import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ProvenConnections } from '../../src/cli/client/proven-connections.js'
import { createKeys } from '../../src/store/keys.js'
import { computeServerProof } from '../../src/store/server-proof.js'

let stateDir = ''
let server: Server
let url = ''
let heard: string[] = []
let isImpostor = false

/** Answers like a server of the state directory; an impostor has no proof. */
async function listen(port = 0): Promise<void> {
  server = createServer((request, response) => {
    const [path = '', query = ''] = (request.url ?? '').split('?')
    heard.push(`${path} ${request.headers.authorization ?? ''}`.trim())
    const nonce = new URLSearchParams(query).get('nonce') ?? ''
    const proof = isImpostor ? 'made up' : computeServerProof(stateDir, { url, nonce })
    response.end(JSON.stringify(path === '/health/proof' ? { proof } : { path }))
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function stop(): Promise<void> {
  server.closeAllConnections()
  await new Promise<void>((resolve) => server.close(() => resolve()))
}

beforeEach(async () => {
  stateDir = mkdtempSync(join(tmpdir(), 'phaselock-proven-'))
  createKeys(stateDir)
  heard = []
  isImpostor = false
  await listen()
})
afterEach(async () => {
  await stop()
  rmSync(stateDir, { recursive: true, force: true })
})

const signal = new AbortController().signal
const post = (connections: ProvenConnections) => connections.post({ path: '/hooks', body: '{}', token: 'T', signal })

describe('connections that stay open', () => {
  it('[REQ-STATEDIR-1] no token is sent to a program without a proof', async () => {
    isImpostor = true
    const connections = new ProvenConnections(() => ({ url, stateDir }))
    await expect(post(connections)).rejects.toThrow(/is not the server of/)
    expect(heard).toEqual(['/health/proof'])
  })

  it('[REQ-STATEDIR-1] the server proves itself once, and again after its connection has ended', async () => {
    const connections = new ProvenConnections(() => ({ url, stateDir }))
    expect(await post(connections)).toMatchObject({ status: 200 })
    await post(connections)
    expect(heard).toEqual(['/health/proof', '/hooks Bearer T', '/hooks Bearer T'])
    const { port } = new URL(url)
    await stop()
    isImpostor = true
    await listen(Number(port))
    heard = []
    await expect(post(connections)).rejects.toThrow()
    expect(heard.filter((line) => line.includes('Bearer'))).toEqual([])
    connections.close()
  })

  it('[REQ-STATEDIR-1] calls at the same time each have a proven connection', async () => {
    const connections = new ProvenConnections(() => ({ url, stateDir }))
    const answers = await Promise.all([1, 2, 3].map(() => post(connections)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(heard.filter((line) => line === '/health/proof')).toHaveLength(3)
    connections.close()
  })
})
