import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sample } from '../depth.js'
import { type Running, start } from '../http/harness.js'
import { ERAS, McpAgent } from './clients.js'

// Every text that belongs to the second phase carries the word.
const CONTRACT = `
name: hidden
version: "1"
enforcement: { denial_budget: 1000, confinement: off }
phases:
  - id: FIRST
    name: First
    description: The open phase.
    prompt: Do the open thing.
    allowed_tools: [read_files, glob, own_note]
    required_artifacts: [{ type: open_note }]
  - id: SECOND
    name: Second
    description: UNSEEN description
    prompt: UNSEEN prompt
    allowed_tools: [read_files, write_files, bash]
    tool_constraints:
      write_files: { allowed_patterns: ["UNSEEN/**"] }
    required_artifacts: [{ type: UNSEEN_artifact, description: UNSEEN artifact }]
    checkpoint:
      evidence:
        UNSEEN_field: { type: string, description: UNSEEN field }
    gates:
      - id: UNSEEN_gate
        type: validation
        blockers: [{ check: file_exists, path: UNSEEN.txt, severity: blocking, message: UNSEEN message }]
  - id: THIRD
    name: Third
    prompt: UNSEEN as well
    allowed_tools: [read_files]
transitions:
  - { from: FIRST, to: SECOND }
  - { from: SECOND, to: THIRD }
tools:
  own_note: { description: Writes a note., command: ["true"] }
`

let server: Running
beforeAll(async () => {
  server = await start({ contract: CONTRACT })
})
afterAll(() => server.stop())

describe.each(sample(ERAS, 1))('a client of $name in its first phase', (era) => {
  it('[REQ-MCP-10] is given no text of a later phase by any tool, resource, prompt or error', async () => {
    const token = await server.addAgent(`agent-${era.name}`)
    await server.addTask()
    const agent = await McpAgent.connect(server.url, token, era)
    await agent.does('claim_task')
    const seen: string[] = []
    const look = async (work: () => Promise<unknown>) => {
      try {
        seen.push(JSON.stringify(await work()))
      } catch (error) {
        seen.push(`${String(error)} ${JSON.stringify(error)}`)
      }
    }
    const { tools } = await agent.client.listTools()
    seen.push(JSON.stringify(tools))
    for (const phase of ['FIRST', 'SECOND', 'THIRD', 'NONE']) {
      for (const { name } of [...tools, { name: 'nothing' }])
        for (const args of [{}, { phase }, { path: phase }, { target_phase: phase }, { phase, evidence: {} }])
          await look(() => agent.call(name, args))
      await look(() => agent.call('next', { claims: { [phase]: true } }))
      await look(() => agent.client.getPrompt({ name: phase }))
      for (const at of ['prompt', 'contract', 'status'])
        for (const uri of [`phaselock://task/${at}`, `phaselock://task/${at}/${phase}`, `phaselock://${phase}/${at}`])
          await look(() => agent.client.readResource({ uri }))
    }
    await look(() => agent.client.listPrompts())
    await look(() => agent.client.listResources())
    const all = seen.join('\n')
    expect(seen.length).toBeGreaterThan(100)
    expect(all).toContain('Do the open thing.')
    expect(seen.filter((one) => one.includes('UNSEEN'))).toEqual([])
    // What it may know: that there are more phases, and where a tool works.
    expect(all).toContain('Works in: SECOND.')
    await agent.close()
  })

  it('[REQ-MCP-8] sees a tool of the contract with its own schema', async () => {
    const agent = await McpAgent.connect(server.url, await server.addAgent(`other-${era.name}`), era)
    const own = (await agent.client.listTools()).tools.find((tool) => tool.name === 'own_note')
    expect(own).toMatchObject({
      description: 'Writes a note. Works in: FIRST.',
      inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    })
    await agent.close()
  })
})
