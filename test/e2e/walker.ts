import { expect } from 'vitest'
import type { Served } from './process.js'

export type Blocker = { code: string; check: string | null; message: string; grade?: string }
type Answer = Awaited<ReturnType<Served['call']>>

/** An agent on one task, and the operator beside it, as they see a server from outside. */
export class Walker {
  token = ''
  /** The agent's own, which it claims with. */
  agentToken = ''

  private constructor(
    readonly server: Served,
    readonly task: string,
  ) {}

  static async claim(server: Served, task: string, more: Record<string, unknown> = {}): Promise<Walker> {
    const added = await server.call('POST', '/tasks', server.operator, { title: `Sum up ${task}`, id: task, ...more })
    expect(added, JSON.stringify(added.body)).toMatchObject({ status: 201 })
    return (await Walker.takeOver(server, task, `agent-${task}`)).agent
  }

  /** The same agent with its token on a server that was started again. */
  static goOn(server: Served, { task, token, agentToken }: Walker): Walker {
    return Object.assign(new Walker(server, task), { token, agentToken })
  }

  /** Another agent on a task that is there already, and what it is warned of. */
  static async takeOver(
    server: Served,
    task: string,
    agent_id = `other-${task}`,
  ): Promise<{ readonly agent: Walker; readonly warnings: string }> {
    const { body } = await server.call('POST', '/agents', server.operator, { agent_id })
    const agent = new Walker(server, task)
    agent.agentToken = String(body.agent_token)
    const claimed = await server.call('POST', '/tasks/claim', agent.agentToken, { agent_id, task_id: task })
    expect(claimed, JSON.stringify(claimed.body)).toMatchObject({ status: 200 })
    agent.token = String(claimed.body.phase_token)
    return { agent, warnings: JSON.stringify(claimed.body.warnings ?? []) }
  }

  use(tool_name: string, args: Record<string, unknown>): Promise<Answer> {
    return this.server.call('POST', '/tools/execute', this.token, { task_id: this.task, tool_name, args })
  }

  /** Uses a tool that must work. */
  async does(tool: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
    const answer = await this.use(tool, args)
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 })
    return answer.body.result as Record<string, unknown>
  }

  async move(target: string, artifacts: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const request = { task_id: this.task, target_phase: target, artifacts }
    let { body } = await this.server.call('POST', '/tasks/transition', this.token, request)
    // Gates that take long: asking again joins the same run.
    while (body.checking === true) ({ body } = await this.server.call('POST', '/tasks/transition', this.token, request))
    if (typeof body.phase_token === 'string') this.token = body.phase_token
    return body
  }

  /** Asks for a way back, with the claim that it is taken for. */
  async goBack(target: string, claim: string): Promise<Record<string, unknown>> {
    const { body } = await this.server.call('POST', '/tasks/transition', this.token, {
      ...{ task_id: this.task, target_phase: target, claims: { [claim]: true } },
    })
    if (typeof body.phase_token === 'string') this.token = body.phase_token
    return body
  }

  /** Asks for a transition that must be refused, and gives what was in the way. */
  async refused(target: string, artifacts: Record<string, unknown> = {}): Promise<readonly Blocker[]> {
    const body = await this.move(target, artifacts)
    expect(body, JSON.stringify(body)).toMatchObject({ allowed: false })
    return body.blockers as Blocker[]
  }

  async enters(target: string, artifacts: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const body = await this.move(target, artifacts)
    expect(body, JSON.stringify(body)).toMatchObject({ allowed: true, phase: target })
    return body
  }

  /** Enters a phase with the operator's approval. */
  async isLetInto(target: string, artifacts: Record<string, unknown>): Promise<void> {
    const asked = await this.move(target, artifacts)
    expect(asked, JSON.stringify(asked)).toMatchObject({ allowed: false, pending_approval: {} })
    const { id, digest } = asked.pending_approval as { id: string; digest: string }
    const decided = await this.server.call('POST', `/approvals/${id}/decision`, this.server.operator, {
      decision: 'approve',
      digest,
    })
    expect(decided).toMatchObject({ status: 200 })
    await this.enters(target, artifacts)
  }

  /** From PLAN to TDD, with the operator's approval. */
  plan(): Promise<void> {
    return this.isLetInto('TDD', { plan_document: PLAN })
  }

  /** From REVIEW to the end, with a commit. `reviewed`: whose word opens the gate of the review. */
  async finish(message: string, reviewed: 'by the agent' | 'by a person' = 'by the agent'): Promise<void> {
    if (reviewed === 'by a person') await this.isLetInto('COMPLETE', REVIEW)
    else await this.enters('COMPLETE', REVIEW)
    const completion_summary = { summary: 'The sum is there', files_changed: ['src'] }
    expect((await this.refused('COMPLETE', { completion_summary })).map((one) => one.check)).toEqual(['committed'])
    expect((await this.does('git_commit', { message })).commit).toMatch(/^[0-9a-f]{40}$/)
    expect(await this.move('COMPLETE', { completion_summary })).toMatchObject({ allowed: true, status: 'completed' })
  }
}

export const REVIEW = {
  review_report: { reviews: { peer: { status: 'completed' } }, blocking_issues: [] },
}

export const PLAN = {
  title: 'Sum up the prices of a cart',
  acceptance_criteria: [{ id: 'AC1', criterion: 'The sum is right', how_to_verify: 'a unit test' }],
  implementation_steps: ['write the test', 'write the function'],
  scope: { in_scope: ['the sum'], out_of_scope: ['taxes'] },
}

export function testFiles(...paths: readonly string[]) {
  return { test_files: { test_files: paths.map((path) => ({ path, covers: ['AC1'] })) } }
}

export function implementation(...paths: readonly string[]) {
  return {
    implementation_files: {
      files_changed: paths.map((path) => ({ path, change_type: 'created' })),
      summary: 'The sum of the prices',
    },
  }
}

export const INVENTED_RED = {
  test_run_result: { command: 'npm test', exit_code: 1, passed: 0, failed: 1, skipped: 0 },
}
export const INVENTED_GREEN = {
  test_run_result: { command: 'npm test', exit_code: 0, passed: 9, failed: 0, skipped: 0 },
}
