import type { App } from '../app/app.js'
import { wallOf } from '../app/wall.js'
import type { SpawnFact } from '../core/spawns.js'
import { newAgentId } from './agent-process.js'

type Spawned = SpawnFact & { type: 'agent_spawned' }

/** The reviewers that the phase of a task starts by itself and that nobody has started in this visit. */
export async function wantedReviewers(app: App, taskId: string): Promise<readonly Spawned[]> {
  const state = await app.ledger.peek(taskId)
  if (state === null || state.visit === 0) return []
  const contract = await app.contracts.get(state.contract.hash)
  const wanted = contract.phases.get(state.phase)?.autoSpawn ?? []
  if (wanted.length === 0) return []
  const { visit } = state
  const wall = await wallOf(app, contract)
  const unenforced = [...new Set(wall.missing.map((one) => one.guarantee))]
  const known = [...app.ledger.registry.spawns.values()].filter((one) => one.taskId === taskId)
  const isThere = (name: string): boolean =>
    known.some(({ review }) => review !== null && review.name === name && review.visit === visit)
  return wanted.flatMap(({ agent, names }) => {
    const entry = contract.agents?.get(agent)
    if (entry === undefined) return []
    const { harness, command, args, model } = entry
    return names
      .filter((name) => !isThere(name))
      .map((name): Spawned => {
        const about = {
          entry: agent,
          program: { harness, command, args, model },
          adapter: 'subprocess',
          unenforced,
        } as const
        return { type: 'agent_spawned', agentId: newAgentId(name), taskId, review: { name, visit }, ...about }
      })
  })
}
