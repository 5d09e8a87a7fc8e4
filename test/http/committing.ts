import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { type Files, git } from '../e2e/projects.js'
import type { Answer, Running } from './harness.js'

export const TOOLS = '[read_files, write_files, edit_files, bash, git_commit, git_diff, git_status]'

/** One phase that is left when everything is committed. */
export function committingContract(more = ''): string {
  return `
name: committing
version: "1"
phases:
  - id: WORK
    allowed_tools: ${TOOLS}
    writable: ["**", "node_modules/**"]
    gates:
      - id: done
        type: validation
        blockers: [{check: committed, message: Commit}, {check: work_tree_clean, message: Clean}]
  - {id: DONE, allowed_tools: []}
${more}`
}

export function put(tree: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(tree, dirname(path)), { recursive: true })
    writeFileSync(join(tree, path), text)
  }
}

export function commitAll(tree: string, ...paths: readonly string[]): void {
  git(tree, 'add', '--force', ...(paths.length === 0 ? ['.'] : paths))
  git(tree, '-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '--quiet', '-m', 'First')
}

/** The names of what the newest commit changed. */
export function inNewest(tree: string): readonly string[] {
  return git(tree, 'show', '--name-only', '--format=', 'HEAD').trim().split('\n')
}

/** An agent with a task in a work tree. */
export class Committer {
  private constructor(
    private readonly run: Running,
    private readonly task: string,
    private readonly token: string,
  ) {}

  static async claim(run: Running, task: string, workspace = run.workspace): Promise<Committer> {
    await run.addTask({ id: task, workspace })
    const agent = `agent-${task}`
    return new Committer(run, task, await run.claim(agent, await run.addAgent(agent), task))
  }

  use(tool_name: string, args: object = {}): Promise<Answer> {
    return this.run.call('POST', '/tools/execute', this.token, { task_id: this.task, tool_name, args })
  }

  async does(tool: string, args: object = {}): Promise<Record<string, unknown>> {
    const answer = await this.use(tool, args)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    return answer.body.result as Record<string, unknown>
  }

  write(path: string, content = 'x\n'): Promise<Record<string, unknown>> {
    return this.does('write_files', { path, content })
  }

  async leave(): Promise<Answer['body']> {
    const asked = { task_id: this.task, target_phase: 'DONE', artifacts: {} }
    return (await this.run.call('POST', '/tasks/transition', this.token, asked)).body
  }

  /** What is in the way of leaving the phase. */
  async blockers(): Promise<readonly string[]> {
    const { blockers } = await this.leave()
    return ((blockers ?? []) as { message: string }[]).map((one) => one.message)
  }
}
