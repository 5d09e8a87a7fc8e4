import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Orchestrator } from '../app/orchestrator.js'
import type { SpawnLimits } from '../spawn/spawn-limits.js'
import { Supervisor } from '../spawn/supervisor.js'
import type { AgentSockets } from './agent-socket.js'

/** Agents that the server starts live as long as it does. */
export function startSupervision(
  server: FastifyInstance,
  parts: {
    readonly app: Orchestrator
    readonly agentSockets: AgentSockets
    readonly scheme: string
    readonly onFault: (error: unknown) => void
    readonly limits?: Partial<SpawnLimits>
  },
): Supervisor {
  const { app, agentSockets: gateways, scheme, onFault, limits } = parts
  const { environment } = app
  const supervisor = new Supervisor(app, {
    gateways,
    environment,
    onFault,
    ...(limits === undefined ? {} : { limits }),
  })
  server.addHook('onListen', (done) => {
    const address = server.server.address()
    if (typeof address === 'object' && address !== null)
      supervisor.start(`${scheme}://${formatHost(address)}:${address.port}`)
    done()
  })
  // First: a running process would keep its socket open.
  server.addHook('preClose', async () => supervisor.close())
  return supervisor
}

function formatHost({ address, family }: AddressInfo): string {
  if (address === '0.0.0.0' || address === '::') return '127.0.0.1'
  return family === 'IPv6' ? `[${address}]` : address
}
