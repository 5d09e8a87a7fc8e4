import { expect } from 'vitest'
import { CLAUDE } from './claude-session.js'
import { describeWhole } from './walks.js'

describeWhole(CLAUDE, ({ model }) => {
  // The instructions of the project reached the model, and it has no tool but those of Phaselock.
  expect(model.sent.join('\n')).toContain('RULES-OF-THE-PROJECT')
  const tools = model.talks.flatMap((talk) => talk.tools)
  expect(tools.filter((name) => !name.startsWith('mcp__phaselock__'))).toEqual([])
})
