import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/json.js'
import { VotedTask } from '../core/consensus-scene.js'

function agreed(): VotedTask {
  const task = new VotedTask({ allowedTools: ['write_files', 'bash', 'read_files'] })
  task.leave()
  task.agree()
  return task
}

function run(task: VotedTask, tool: string, args: JsonObject): void {
  const call = { argProblems: [], paths: [], commands: [], shellProblem: null }
  expect(task.do({ type: 'use_tool', tool, args, execute: true, call })).toContain('tool_allowed')
}

describe('a call that is let through while the gates of a vote are checked', () => {
  it.each([
    ['write_files', { path: 'a.ts', content: 'evil()' }],
    ['bash', { command: 'echo evil > a.ts' }],
  ])('[REQ-BREAK-15] %s keeps the phase closed, whatever was approved', (tool, args) => {
    const task = agreed()
    const gathered = task.seen('s1')
    run(task, tool, args)
    expect(task.move('DONE', { consensus: gathered })).toEqual(['transition_requested', 'gate_blocked'])
    expect(task.blocked().blockers).toMatchObject([{ code: 'check_error', check: 'consensus' }])
    expect(task.leave()).toContain('gate_passed')
  })

  it('[REQ-BREAK-15] read_files changes nothing, and keeps nothing closed', () => {
    const task = agreed()
    const gathered = task.seen('s1')
    run(task, 'read_files', { path: 'a.ts' })
    expect(task.move('DONE', { consensus: gathered })).toContain('gate_passed')
  })
})
