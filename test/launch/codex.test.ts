import { expect } from 'vitest'
import { CODEX } from './codex-session.js'
import { describeWhole } from './walks.js'

const OWN = ['list_mcp_resources', 'list_mcp_resource_templates', 'read_mcp_resource', 'request_user_input']

describeWhole(CODEX, ({ model }) => {
  // The instructions of the project reached the model, and its own tools change nothing.
  expect(model.sent.join('\n')).toContain('AGENTS-RULES')
  const tools = new Set(model.talks.flatMap((talk) => talk.tools))
  expect([...tools].filter((name) => !name.startsWith('mcp__phaselock__')).sort()).toEqual([...OWN].sort())
})
