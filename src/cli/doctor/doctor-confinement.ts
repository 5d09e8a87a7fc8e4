import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type Confinement, GUARANTEES } from '../../confinement/confinement.js'
import { tryAllProviders } from '../../confinement/open-confinement.js'
import { findProgram } from '../../confinement/probes.js'
import { buildHostView } from '../../confinement/view/host-view.js'
import { plainLine } from '../../core/plain-text.js'
import { type Finding, missing, ok, warning } from '../finding.js'

/** Tries every sandbox provider by actually trying to break out of it, and reports which one would be used. */
export async function checkConfinement(): Promise<readonly Finding[]> {
  const dir = mkdtempSync(join(tmpdir(), 'phaselock-doctor-'))
  try {
    const providers = await tryAllProviders(dir)
    const used = providers.find((provider) => provider.missing.length === 0)
    return [
      summarizeProviders(used, providers),
      ...providers.map((provider) => describeProvider(provider, used)),
      ...checkTools(),
    ]
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function summarizeProviders(used: Confinement | undefined, providers: readonly Confinement[]): Finding {
  const none = 'none: commands of agents cannot be confined, and strict contracts that run them are refused'
  if (used === undefined) return missing('confinement', none, providers.at(-1)?.missing[0]?.remedy ?? '')
  const held = Object.keys(GUARANTEES).join(', ')
  const notes = used.notes.length === 0 ? '' : `. ${used.notes.join(' ')}`
  return ok('confinement', `${used.provider}, tried and held: ${held}${notes}`)
}

function describeProvider(one: Confinement, used: Confinement | undefined): Finding {
  const [first] = one.missing
  if (first === undefined) return ok(one.provider, one === used ? 'holds, in use' : 'holds, not needed')
  const lost = [...new Set(one.missing.map(({ guarantee }) => guarantee))]
  const what = lost.length === Object.keys(GUARANTEES).length ? 'cannot be used' : `does not hold: ${lost.join(', ')}`
  const remedy = used === undefined ? first.remedy : `Not needed; ${toLowerFirst(first.remedy)}`
  return warning(one.provider, plainLine(`${what} (${first.found})`), remedy)
}

const TOOLS_NAMED_MAX = 8
// Commands have no use for them.
const OWN_PROGRAMS = ['phaselock', 'phaselock-hook']

/** Which tools commands find in the sandbox, and which tools on the server's PATH they do not. */
function checkTools(): readonly Finding[] {
  const { toolchains, hiddenPrograms, path } = buildHostView()
  const found = toolchains.map(({ name, folders }) => `${name} (${folders.join(', ')})`)
  const inside = new Set(path.split(delimiter).flatMap(listNames))
  const hidden = hiddenPrograms.flatMap((folder): readonly Finding[] => {
    const names = listNames(folder).filter((name) => !inside.has(name) && !OWN_PROGRAMS.includes(name))
    if (names.length === 0) return []
    const more = names.length > TOOLS_NAMED_MAX ? ` and ${names.length - TOOLS_NAMED_MAX} more` : ''
    const some = names.slice(0, TOOLS_NAMED_MAX).join(', ')
    return [
      warning(
        'hidden tools',
        plainLine(`${folder} is on PATH but not visible in the sandbox: ${some}${more}`),
        'If tests need one of them, install it below /usr/local or with a version manager that the sandbox shows (docs/tools.md).',
      ),
    ]
  })
  const shown = found.length === 0 ? 'those of the system' : found.join(', ')
  return [ok('tools in sandbox', plainLine(shown)), ...hidden]
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function toLowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1)
}

interface Fix {
  readonly done: boolean
  readonly text: string
}

/** What the program can do about a missing sandbox itself: as root, install bubblewrap if it is a package. */
export function makeConfinementFix(): Fix {
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
