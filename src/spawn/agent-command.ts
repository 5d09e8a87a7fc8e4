import { join } from 'node:path'
import type { Job } from '../confinement/confinement.js'
import type { Spawn } from '../core/contract/agent-programs.js'
import type { HarnessHome } from '../participants/agent-cli/agent-cli-home.js'
import { RECIPES } from '../participants/agent-cli/agent-cli-recipes.js'
import { type ReviewerCommandFound, resolveCommandAtStart } from '../participants/agent-cli/command-at-start.js'
import type { Start } from './start.js'

/** The program to start. A reviewer never runs what the implementer wrote: see `resolveCommandAtStart`. */
export async function resolveCommand(
  { spawn: { program }, atStart }: Start,
  home: HarnessHome,
): Promise<Extract<ReviewerCommandFound, { ok: true }>> {
  const command = { name: getProgramName(program), args: program.args }
  if (atStart === null) return { ok: true, command, copy: null }
  const found = await resolveCommandAtStart(command, atStart, join(home.dir, 'tree-at-start'))
  if (!found.ok) throw new Error(found.detail)
  return found
}

export function getProgramName(program: Spawn['program']): string {
  return program.command ?? RECIPES[program.harness].program ?? ''
}

// It contains every version of every file, including files hidden from agents. The git tools leave those out.
const GIT = '.git'

// A reviewer starts in an empty folder: agent CLIs read instructions from their start folder, and the implementer may
// have written those of the work tree. It reads the work with the tools of Phaselock. (REQ-SPAWN-32)
export function choosePlace(start: Start, home: HarnessHome): Pick<Job, 'tree' | 'hidden'> {
  return start.spawn.review === null
    ? { tree: start.tree, hidden: [GIT, ...start.hidden] }
    : { tree: home.work, hidden: [] }
}
