import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { surveyConfinement } from '../confinement/open.js'
import { type Confinement, GUARANTEES } from '../confinement/port.js'
import { findProgram } from '../confinement/probes.js'
import type { Finding } from './doctor.js'
import { plainLine } from './plain-text.js'

/** Tries every wall there is, by really trying to break out of it, and says which one would be used. */
export async function confinementFindings(): Promise<readonly Finding[]> {
  const dir = mkdtempSync(join(tmpdir(), 'phaselock-doctor-'))
  try {
    const providers = await surveyConfinement(dir)
    const used = providers.find((one) => one.missing.length === 0)
    return [summary(used, providers), ...providers.map((one) => detail(one, used))]
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function summary(used: Confinement | undefined, providers: readonly Confinement[]): Finding {
  const name = 'confinement'
  if (used === undefined) {
    const first = providers.at(-1)?.missing[0]
    return {
      name,
      status: 'missing',
      detail: 'none: commands of agents cannot be confined, and strict contracts that run them are refused',
      remedy: first?.remedy ?? '',
    }
  }
  const held = Object.keys(GUARANTEES).join(', ')
  return {
    name,
    status: 'ok',
    detail: `${used.provider}, tried and held: ${held}${used.notes.length === 0 ? '' : `. ${used.notes.join(' ')}`}`,
    remedy: '',
  }
}

function detail(one: Confinement, used: Confinement | undefined): Finding {
  const name = one.provider
  if (one.missing.length === 0)
    return { name, status: 'ok', detail: one === used ? 'holds, in use' : 'holds, not needed', remedy: '' }
  const lost = [...new Set(one.missing.map((missing) => missing.guarantee))]
  const [first] = one.missing
  const what = lost.length === Object.keys(GUARANTEES).length ? 'cannot be used' : `does not hold: ${lost.join(', ')}`
  return {
    name,
    status: 'warning',
    detail: plainLine(`${what} (${first?.found ?? ''})`),
    remedy: used === undefined ? (first?.remedy ?? '') : `Not needed; ${lowerFirst(first?.remedy ?? '')}`,
  }
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1)
}

export interface Fix {
  readonly done: boolean
  readonly text: string
}

/** What the program may do about a missing wall by itself: install bubblewrap where it is a package and it is root. */
export function fixConfinement(): Fix {
  if (findProgram('bwrap') !== null) return { done: false, text: 'bubblewrap is installed; there is nothing to fix.' }
  const [manager, args] = PACKAGE_MANAGERS.find(([name]) => findProgram(name) !== null) ?? [null, []]
  if (manager === null) return { done: false, text: 'No package manager was found; install bubblewrap by hand.' }
  const command = `${manager} ${args.join(' ')}`
  if (process.getuid?.() !== 0) return { done: false, text: `Run as root: ${command}` }
  const ended = spawnSync(manager, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  return ended.status === 0
    ? { done: true, text: `Installed bubblewrap (${command}).` }
    : { done: false, text: `${command} failed with exit code ${ended.status ?? 'none'}.` }
}

const PACKAGE_MANAGERS: readonly (readonly [string, readonly string[]])[] = [
  ['apt-get', ['install', '-y', 'bubblewrap']],
  ['dnf', ['install', '-y', 'bubblewrap']],
  ['apk', ['add', 'bubblewrap']],
  ['pacman', ['-S', '--noconfirm', 'bubblewrap']],
  ['zypper', ['install', '-y', 'bubblewrap']],
]
