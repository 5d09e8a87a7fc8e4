import { spawnSync } from 'node:child_process'
import { EXIT, Stop } from '../exit.js'

const ANSWER_MS_MAX = 30_000
const OUTPUT_BYTES_MAX = 4 * 1024 * 1024

export const ENGINES = ['docker', 'podman'] as const
export type EngineName = (typeof ENGINES)[number]

/** What one call of the engine gave. */
export interface EngineAnswer {
  readonly ok: boolean
  readonly stdout: string
  readonly stderr: string
}

/** A container engine that answers. */
export interface Engine {
  readonly name: EngineName
  /** Podman without root: its containers run in a user namespace of the person. */
  readonly isRootless: boolean
}

/** The engine that was named, else the first one that answers. Stops with what to do when there is none. */
export function findEngine(named: string | undefined): Engine {
  const wanted = ENGINES.filter((name) => named === undefined || name === named)
  const silent: EngineName[] = []
  for (const name of wanted) {
    const asked = askEngine(name, ['info', '--format', FORMATS[name]])
    if (asked.ok) return { name, isRootless: name === 'podman' && asked.stdout.trim() === 'true' }
    if (askEngine(name, ['--version']).ok) silent.push(name)
  }
  throw new Stop(EXIT.refused, silent.length > 0 ? formatSilent(silent) : formatMissing(wanted))
}

const FORMATS: Readonly<Record<EngineName, string>> = {
  docker: '{{.ServerVersion}}',
  podman: '{{.Host.Security.Rootless}}',
}

/** Runs the engine and waits for its answer. */
export function askEngine(name: EngineName, args: readonly string[], msMax = ANSWER_MS_MAX): EngineAnswer {
  const done = spawnSync(name, args, { encoding: 'utf8', timeout: msMax, maxBuffer: OUTPUT_BYTES_MAX, stdio: 'pipe' })
  const failure = done.error === undefined ? '' : explainError(done.error, msMax)
  return { ok: done.status === 0, stdout: done.stdout ?? '', stderr: `${done.stderr ?? ''}${failure}`.trim() }
}

function explainError(error: NodeJS.ErrnoException, msMax: number): string {
  return error.code === 'ETIMEDOUT' ? `It did not answer within ${msMax / 1000} s.` : error.message
}

/** Runs the engine, and stops with its own words when it fails. */
export function requireEngine(
  name: EngineName,
  args: readonly string[],
  about: { readonly doing: string; readonly msMax?: number },
): string {
  const answer = askEngine(name, args, about.msMax)
  if (answer.ok) return answer.stdout
  throw new Stop(EXIT.refused, `${about.doing}: \`${name} ${args[0]}\` failed.\n${answer.stderr}`)
}

export function isContainerRunning({ engine, name }: { readonly engine: EngineName; readonly name: string }): boolean {
  return askEngine(engine, ['inspect', '--format', '{{.State.Running}}', name]).stdout.trim() === 'true'
}

function formatMissing(names: readonly string[]): string {
  const both = names.length > 1
  return [
    `No container engine was found: there is no program ${names.join(' or ')} on the PATH.`,
    `Install ${both ? 'Docker (https://docs.docker.com/get-docker/) or Podman (https://podman.io)' : names[0]}, or run \`phaselock up\` without --container on Linux.`,
  ].join('\n')
}

function formatSilent(names: readonly EngineName[]): string {
  const remedies: Readonly<Record<EngineName, string>> = {
    docker: 'Start Docker Desktop, or the service: sudo systemctl start docker',
    podman: 'Start its machine: podman machine start (on Linux look at `podman info`)',
  }
  return [
    `${names.join(' and ')} ${names.length > 1 ? 'are' : 'is'} installed, but the engine does not answer.`,
    ...names.map((name) => remedies[name]),
  ].join('\n')
}
