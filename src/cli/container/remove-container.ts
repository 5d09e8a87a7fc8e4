import type { ContainerPlace } from '../client/server-file.js'
import { requireEngine } from './engine.js'

const STOP_SECONDS_MAX = 15
const STOP_MS_MAX = 60_000

/** Stops the server in its container and removes the container. Its volume, which holds the state, stays. */
export function removeContainer({ engine, name }: ContainerPlace): void {
  const about = { doing: 'The container cannot be stopped', msMax: STOP_MS_MAX }
  requireEngine(engine, ['stop', '--time', String(STOP_SECONDS_MAX), name], about)
  requireEngine(engine, ['rm', '--force', name], { doing: 'The container cannot be removed' })
}

/** Where the state is that a container left. */
export function formatVolume({ engine, name }: ContainerPlace): string {
  return `Its state stays in the volume ${name}. To delete it for good: ${engine} volume rm ${name}`
}
