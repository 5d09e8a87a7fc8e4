import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Answer, PLAN, type Running, start } from './harness.js'

export const EXAMPLES_CONTRACT = `
name: examples
version: "1"
phases:
  - id: PLAN
    allowed_tools: [read_files]
    writable: []
    required_artifacts: [{type: plan_document, schema: schemas/plan.json, description: the plan}]
    gates: [{id: plan, type: validation, blockers: [{check: plan_has_acceptance_criteria, message: A plan}]}]
  - id: IMPL
    allowed_tools: [read_files, write_files, bash]
    tool_constraints: {write_files: {allowed_patterns: ["src/**"]}, bash: {network: false}}
    gates:
      - id: green
        type: validation
        blockers: [{check: examples_hold, message: The examples must hold}]
  - {id: REVIEW, allowed_tools: [read_files]}
transitions: [{from: PLAN, to: IMPL}, {from: IMPL, to: REVIEW}]
enforcement: {denial_budget: 30}
`

/** A task of a server whose gate runs examples. */
export interface ExampleTask {
  readonly id: string
  readonly agent: string
  readonly workspace: string
  token: string
  move(target_phase: string, artifacts?: object): Promise<Answer>
  put(path: string, content: string): Promise<void>
  message(answer: Answer): string
}

export function startExamples(more: Parameters<typeof start>[0] = {}): Promise<Running> {
  return start({ contract: EXAMPLES_CONTRACT, agentPerSecond: 1000, ...more })
}

export function planWith(...examples: object[]): object {
  const [criterion] = PLAN.acceptance_criteria
  return { plan_document: { ...PLAN, acceptance_criteria: [{ ...criterion, id: 'AC-1', examples }] } }
}

let count = 0

/** A task in a work tree of its own, claimed, in PLAN. */
export async function exampleTask(run: Running, about: object = {}): Promise<ExampleTask> {
  count += 1
  const workspace = join(run.workspace, '..', `tree-${count}`)
  mkdirSync(join(workspace, 'src'), { recursive: true })
  mkdirSync(join(workspace, 'node_modules'))
  writeFileSync(join(workspace, '.gitignore'), 'build/\n.cache/\nnode_modules/\n')
  writeFileSync(join(workspace, 'src/add.mjs'), 'console.log(0)\n')
  const id = await run.addTask({ id: `t${count}`, workspace, ...about })
  const agent = await run.addAgent(`a${count}`)
  const task = {
    id,
    agent,
    workspace,
    token: await run.claim(`a${count}`, agent, id),
    move: async (target_phase: string, artifacts: object = {}) => {
      const answer = await run.call('POST', '/tasks/transition', task.token, { task_id: id, target_phase, artifacts })
      if (typeof answer.body.phase_token === 'string') task.token = answer.body.phase_token
      return answer
    },
    put: async (path: string, content: string) => {
      const body = { task_id: id, tool_name: 'write_files', args: { path, content } }
      const answer = await run.call('POST', '/tools/execute', task.token, body)
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
    },
    message: (answer: Answer) =>
      ((answer.body.blockers ?? []) as { message: string }[]).map((one) => one.message).join(),
  }
  return task
}
