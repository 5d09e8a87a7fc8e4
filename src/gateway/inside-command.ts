import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { packagePath } from '../base/package-root.js'
import { formatSocketPath, type Job, type JobSocket } from '../confinement/confinement.js'
import { buildHostView } from '../confinement/view/host-view.js'
import { isInside } from '../confinement/view/toolchains.js'
import { MODEL_PORT, ORCHESTRATOR_PORT, ORCHESTRATOR_URL } from './gateway-ports.js'

const PROGRAM = packagePath('runtime/sandbox/inside.mjs')

interface InsideOptions {
  readonly sockets: {
    /** Path of the agent's own socket. */
    readonly orchestrator: string
    /** From `openModelRelay`, and the variables that the agent reads its address from. */
    readonly model?: { readonly path: string; readonly url: string; readonly variables: readonly string[] }
  }
  readonly env: Readonly<Record<string, string>>
  readonly argv: readonly string[]
}

type InsideJob = Pick<Job, 'argv' | 'env' | 'network'> & Required<Pick<Job, 'sockets' | 'shown'>>

// There is no network for these proxies, and a client that uses them would not find the loopback.
const PROXIES = /^(https?|all|no|ftp)_proxy$/i

/**
 * The job that runs an agent without network except its gateway: the agent finds Phaselock at `ORCHESTRATOR_URL`, also
 * in `PHASELOCK_URL`, and its model at the address of the relay.
 */
export function buildInsideCommand({ sockets, env, argv }: InsideOptions): InsideJob {
  const { orchestrator, model } = sockets
  const node = realpathSync(process.execPath)
  const given: JobSocket[] = [{ name: 'orchestrator', path: orchestrator }]
  const ports = [`${ORCHESTRATOR_PORT}=${formatSocketPath('orchestrator')}`]
  if (model !== undefined) {
    given.push({ name: 'model', path: model.path })
    ports.push(`${MODEL_PORT}=${formatSocketPath('model')}`)
  }
  return {
    argv: [node, realpathSync(PROGRAM), ...ports, '--', ...argv],
    env: {
      ...Object.fromEntries(Object.entries(env).filter(([name]) => !PROXIES.test(name))),
      PHASELOCK_URL: ORCHESTRATOR_URL,
      ...Object.fromEntries((model?.variables ?? []).map((name) => [name, model?.url ?? ''])),
    },
    network: false,
    sockets: given,
    // Usually Node is in a folder that every command sees.
    shown: [dirname(realpathSync(PROGRAM)), dirname(node)].filter(
      (folder) => !buildHostView().shown.some((one) => isInside(one, folder)),
    ),
  }
}
