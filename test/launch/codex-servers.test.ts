import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CODEX } from '../../src/cli/launch/codex.js'

let dir = ''
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-servers-')))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** The arguments for a Codex that answers the question for its MCP servers like this. */
function prepare(answer: string): readonly string[] {
  const program = join(dir, 'codex')
  writeFileSync(program, `#!/bin/sh\n${answer}\n`, { mode: 0o755 })
  return CODEX.prepare({
    ...{ program, url: 'http://127.0.0.1:1', secret: 'SECRET', folder: dir, workspace: dir },
    ...{ instructions: '', prompt: null, own: [], environment: { PATH: process.env.PATH } },
  }).args
}

describe('the MCP servers of a person who uses Codex', () => {
  it.each([
    [`echo '[{"name": "phaselock"}]'`, /"phaselock" of your Codex configuration is in the way/],
    [`echo '[{"name": "a.b"}]'`, /"a\.b" of your Codex configuration is in the way/],
    ['echo no list', /does not say which MCP servers it starts/],
    [`echo '[]'; exit 1`, /does not say which MCP servers it starts/],
  ])('[REQ-LAUNCH-1] refuse the session where they cannot be switched off: %s', (answer, refusal) => {
    expect(() => prepare(answer)).toThrow(refusal)
  })

  it('[REQ-LAUNCH-1] are off in the session', () => {
    expect(prepare(`echo '[{"name": "other"}]'`)).toContain('mcp_servers.other.enabled=false')
  })
})
