import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Files, git, makeRepository } from '../e2e/projects.js'
import { type Answer, type Running, start } from '../http/harness.js'

export const CONTRACT = `
name: small
version: "1"
phases:
  - id: WORK
    allowed_tools: [read_files, write_files, bash, git_commit, git_log, git_status]
  - {id: DONE, allowed_tools: []}
transitions: [{from: WORK, to: DONE}]
`

export interface Stage {
  readonly run: Running
  readonly repository: string
  /** A task with a work tree of its own. */
  add(id: string, about?: Record<string, unknown>): Promise<Answer>
  /** An agent on the task, which writes files and commits them. */
  work(id: string, files: Files, commit?: boolean): Promise<Worker>
  finish(worker: Worker): Promise<Answer>
  operate(id: string, action: string, body?: Record<string, unknown>): Promise<Answer>
  /** A file as the newest commit of the repository holds it. */
  committed(path: string): string | null
  /** Also of the server that was started in its place. */
  remove(current?: Running): Promise<void>
}

export interface Worker {
  readonly task: string
  readonly token: string
  readonly tree: string
  use(tool: string, args: Record<string, unknown>): Promise<Answer>
}

export async function stage(files: Files = { 'a.txt': 'a\n' }, contract = CONTRACT): Promise<Stage> {
  const dir = mkdtempSync(join(tmpdir(), 'phaselock-trees-'))
  const repository = join(dir, 'tree')
  makeRepository(repository, files)
  git(repository, 'branch', '-M', 'main')
  const run = await start({ dir, contract })
  const operate: Stage['operate'] = (id, action, body = {}) =>
    run.call('POST', `/tasks/${id}/${action}`, run.operator, { reason: 'because', ...body })
  return {
    run,
    repository,
    operate,
    add: (id, about = {}) =>
      run.call('POST', '/tasks', run.operator, { title: `Do ${id}`, id, worktree: true, ...about }),
    work: async (task, changed, commit = true) => {
      const agent = `agent-${task}`
      const token = await run.claim(agent, await run.addAgent(agent), task)
      const shown = await run.call('GET', `/tasks/${task}`, run.operator)
      const use: Worker['use'] = (tool_name, args) =>
        run.call('POST', '/tools/execute', token, { task_id: task, tool_name, args })
      for (const [path, content] of Object.entries(changed)) await use('write_files', { path, content })
      if (commit) await use('git_commit', { message: `Work of ${task}` })
      return { task, token, tree: String(shown.body.workspace), use }
    },
    finish: ({ task, token }) =>
      run.call('POST', '/tasks/transition', token, { task_id: task, target_phase: 'DONE', artifacts: {} }),
    committed: (path) => {
      try {
        return git(repository, 'show', `HEAD:${path}`)
      } catch {
        return null
      }
    },
    remove: async (current = run) => {
      await current.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** A file of a work tree that exists although nobody committed it. */
export function drop(tree: string, path: string, text: string): void {
  writeFileSync(join(tree, path), text)
}
