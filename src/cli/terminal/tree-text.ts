import type { AddedTask, SpawnedAgent } from 'phaselock/sdk'
import { plainLine } from '../../core/plain-text.js'
import { print, tell } from './terminal.js'

/** Says where a task with a separate work tree works, and what is not there. */
export function tellTree({ workspace, worktree, uncommitted }: AddedTask | SpawnedAgent): void {
  print(`It works in ${plainLine(workspace)}, on the branch ${plainLine(worktree?.branch)}.`)
  if (uncommitted === undefined || uncommitted.count === 0) return
  tell(`Not included, because it is not committed: ${uncommitted.paths.map(plainLine).join(', ')}`)
}
