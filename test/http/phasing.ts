import { type Answer, type Running, start } from './harness.js'

/** The workflow of seed 004 in three phases, with evidence, an approval and a last phase that asks for something. */
export const PHASED = `
name: test_generation
version: "1"
agent_startable: true
phases:
  - id: ANALYSE
    name: Analysis
    prompt: "Analyse {{task.title}}"
    allowed_tools: [write_files]
    checkpoint:
      evidence:
        function_count: {type: integer, min: 1, description: number of functions found}
        method_count: {type: integer, description: number of methods found}
        branch_count: {type: integer, description: number of branches found}
        ast_command_output: {type: string, min_length: 1, description: output of the command}
        functions_list: {type: array, min_length: 1, description: names of the functions}
  - id: PLAN
    name: Planning
    prompt: "Plan PHASE-TWO-MARKER"
    allowed_tools: [write_files]
    checkpoint: {evidence: {reviewed: {type: boolean, description: somebody read it}}}
    gates: [{id: lead, type: approval, approvers: [human], timeout_seconds: 600}]
  - id: WRITE
    name: Writing
    prompt: Write
    allowed_tools: []
    checkpoint: {evidence: {tests: {type: integer, min: 1, description: tests written}}}
enforcement: {reconcile: off, denial_budget: 50}
`

/** Evidence that the first phase accepts. */
export const ANALYSED = {
  function_count: 21,
  method_count: 15,
  branch_count: 36,
  ast_command_output: 'def compile()...',
  functions_list: ['compile', 'parse'],
}

export interface Worker {
  readonly run: Running
  readonly agent: string
  token: string
  get(phase: string): Promise<Answer>
  complete(phase: string, evidence: unknown, headers?: Record<string, string>): Promise<Answer>
  events(): Promise<readonly { type: string; data: Record<string, unknown> }[]>
}

/** A server with one task that an agent holds. */
export async function startPhased(contract = PHASED): Promise<Worker> {
  // Room for more than evidence may have, so that the refusal is that of the evidence and not of the body.
  const run = await start({ contract, bodyBytesMax: 12 * 1024 * 1024 })
  await run.addTask({ id: 't' })
  const agent = await run.addAgent('a')
  return workerOf(run, agent, await run.claim('a', agent, 't'))
}

export function workerOf(run: Running, agent: string, token: string): Worker {
  const worker: Worker = {
    run,
    agent,
    token,
    get: (phase) => run.call('GET', `/phases/${phase}`, worker.token),
    complete: async (phase, evidence, headers) => {
      const answer = await run.call('POST', `/phases/${phase}/complete`, worker.token, { evidence }, headers)
      if (typeof answer.body.phase_token === 'string') worker.token = answer.body.phase_token
      return answer
    },
    events: async () => {
      const timeline = await run.call('GET', '/tasks/t/timeline', run.operator)
      return timeline.body.events as never
    },
  }
  return worker
}
