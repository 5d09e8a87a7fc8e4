import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ERAS, type Era, McpAgent } from '../mcp/clients.js'
import { type Running, start } from './harness.js'

const CONTRACT = `
version: "1.0"
name: reading
knowledge: {sources: ["docs/**/*.md"]}
phases:
  - id: PLAN
    allowed_tools: [read_files]
  - id: BUILD
    allowed_tools: [read_files]
  - id: SHIP
    allowed_tools: [read_files]
transitions:
  - {from: PLAN, to: BUILD}
  - {from: BUILD, to: SHIP}
`

const DOCUMENTS: Readonly<Record<string, string>> = {
  'docs/style.md': '# Style\n\nNames are nouns of the product.\n',
  'docs/phases/PLAN/guide.md': '# Planning\n\nWrite down what is in scope.\n',
  'docs/phases/BUILD/guide.md': '# Building\n\nThe compiler is the first reviewer.\n',
  'docs/ship.md': '---\nphase: SHIP\ntags: [release]\n---\n# Shipping\n\nThe launch codeword is marmalade.\n',
  'docs/later.md': '---\nphase: NOWHERE\n---\n# Later\n\nA phase that the contract has not.\n',
  'notes/private.md': '# Private\n\nmarmalade for breakfast\n',
}

describe('POST /knowledge/search', () => {
  let running: Running
  let phaseToken: string
  let agentToken: string
  let task: string

  beforeAll(async () => {
    running = await start({ contract: CONTRACT, environment: { PHASELOCK_EMBEDDINGS: 'none' } })
    for (const [file, text] of Object.entries(DOCUMENTS)) {
      mkdirSync(dirname(join(running.workspace, file)), { recursive: true })
      writeFileSync(join(running.workspace, file), text)
    }
    const contract = await running.app.contracts.get(running.app.defaultContract)
    await running.app.library.openFor(contract, running.workspace)?.settle()
    agentToken = await running.addAgent('reader')
    task = await running.addTask()
    phaseToken = await running.claim('reader', agentToken, task)
  })
  afterAll(() => running.stop())

  const find = (token: string | null, body: object) => running.call('POST', '/knowledge/search', token, body)
  const filesOf = (body: Record<string, unknown>) =>
    (body.results as readonly { readonly file: string }[]).map(({ file }) => file)

  it('[REQ-KNOW-18] who has no token or no task finds nothing', async () => {
    expect((await find(null, { query: 'style' })).status).toBe(401)
    const idle = await running.addAgent('idle')
    expect(await find(idle, { query: 'style' })).toMatchObject({ status: 409, body: { code: 'no_active_task' } })
    expect((await find(phaseToken, { query: 'style', task_id: 'another' })).status).toBe(403)
  })

  it('[REQ-KNOW-18] an agent never finds documents of phases its task has not reached, and does when it has', async () => {
    const everything =
      'style planning building shipping later marmalade codeword launch compiler reviewer scope names phase'
    const seen = async (body: object = {}) =>
      filesOf((await find(phaseToken, { query: everything, n_results: 50, ...body })).body).sort()
    expect(await seen()).toEqual(['docs/phases/PLAN/guide.md', 'docs/style.md'])
    for (const filter of [
      { phase: 'SHIP' },
      { phase: 'BUILD' },
      { phase: 'NOWHERE' },
      { tags: ['release'] },
      { tags: ['BUILD'] },
    ])
      expect(await seen(filter)).toEqual([])
    const moved = await running.call('POST', '/tasks/transition', phaseToken, {
      ...{ task_id: task, current_phase: 'PLAN', target_phase: 'BUILD', artifacts: {} },
    })
    expect(moved.status, JSON.stringify(moved.body)).toBe(200)
    expect((await find(phaseToken, { query: 'compiler' })).status).toBe(403)
    phaseToken = String(moved.body.phase_token)
    expect(await seen()).toEqual(['docs/phases/BUILD/guide.md', 'docs/phases/PLAN/guide.md', 'docs/style.md'])
    expect(await seen({ phase: 'SHIP' })).toEqual([])
  })

  it('[REQ-KNOW-18] an operator finds everything that the contract names, and nothing else', async () => {
    const found = await find(running.operator, { query: 'marmalade', n_results: 50 })
    expect(found.status).toBe(200)
    expect(filesOf(found.body)).toEqual(['docs/ship.md'])
    expect(found.body).toMatchObject({
      retrieval_method: 'lexical',
      degraded: true,
      total_tokens: expect.any(Number),
      query_time_ms: expect.any(Number),
      results: [
        {
          content: 'The launch codeword is marmalade.',
          file: 'docs/ship.md',
          section: 'Shipping',
          start_line: 7,
          score: expect.any(Number),
          tokens: expect.any(Number),
          tags: ['docs', 'release'],
          phase: 'SHIP',
        },
      ],
    })
    expect((await find(running.operator, { query: 'x', task_id: 'nobody' })).status).toBe(404)
  })

  it('[REQ-KNOW-18] strange queries are answered, and fields that are wrong refused', async () => {
    for (const query of ['', '"', 'a\u0000b', '🙂', 'NEAR(', 'x'.repeat(100_000)])
      expect((await find(phaseToken, { query })).status, query.slice(0, 10)).toBe(200)
    for (const body of [
      {},
      { query: 1 },
      { query: 'x', n_results: 0 },
      { query: 'x', n_results: 51 },
      { query: 'x', visible: ['SHIP'] },
    ])
      expect((await find(phaseToken, body)).status, JSON.stringify(body)).toBe(400)
    expect(running.faults).toEqual([])
  })

  it('[REQ-KNOW-18] over MCP the same is found, and nothing of later phases either', async () => {
    const agent = await McpAgent.connect(running.url, agentToken, ERAS[1] as Era)
    const found = await agent.does('search_standards', { query: 'codeword marmalade names compiler', n_results: 50 })
    expect(filesOf(found).sort()).toEqual(['docs/phases/BUILD/guide.md', 'docs/style.md'])
    const hidden = await agent.does('search_standards', { query: 'marmalade', phase: 'SHIP', tags: ['release'] })
    expect(hidden).toMatchObject({ results: [], retrieval_method: 'lexical', degraded: true })
    await agent.close()
  })

  it('[REQ-KNOW-19] the server goes on answering while a thousand files are indexed', async () => {
    const waits: number[] = []
    mkdirSync(join(running.workspace, 'docs/many'), { recursive: true })
    for (let at = 0; at < 1000; at += 1)
      writeFileSync(
        join(running.workspace, 'docs/many', `${at}.md`),
        `# Note ${at}\n\nquokka number n${at} lives here\n`,
      )
    const ends = Date.now() + 50_000
    let isFound = false
    while (!isFound && Date.now() < ends) {
      const started = performance.now()
      expect((await running.call('GET', '/tasks', running.operator)).status).toBe(200)
      waits.push(performance.now() - started)
      isFound = filesOf((await find(running.operator, { query: 'n999' })).body).includes('docs/many/999.md')
    }
    expect(isFound).toBe(true)
    expect(Math.max(...waits)).toBeLessThan(2_000)
  })

  it('[REQ-KNOW-18] a contract without documents says that it has none', async () => {
    const bare = await start({ contract: CONTRACT.replace(/^knowledge.*\n/m, '') })
    const answer = await bare.call('POST', '/knowledge/search', bare.operator, { query: 'x' })
    expect(answer).toMatchObject({
      status: 404,
      body: { code: 'not_found', detail: expect.stringContaining('knowledge.sources') },
    })
    await bare.stop()
  })
})

describe('phases that are numbers', () => {
  it('[REQ-KNOW-26] are searched by number or by text, over REST and MCP, and other values are refused', async () => {
    const contract = CONTRACT.replaceAll('PLAN', '"1"').replaceAll('BUILD', '"2"').replaceAll('SHIP', '"3"')
    const running = await start({ contract, environment: { PHASELOCK_EMBEDDINGS: 'none' } })
    const documents = {
      'docs/phases/1/guide.md': '# One\n\nmarmalade first\n',
      'docs/two.md': '---\nphase: 2\n---\n# Two\n\nmarmalade second\n',
    }
    for (const [file, text] of Object.entries(documents)) {
      mkdirSync(dirname(join(running.workspace, file)), { recursive: true })
      writeFileSync(join(running.workspace, file), text)
    }
    const known = await running.app.contracts.get(running.app.defaultContract)
    await running.app.library.openFor(known, running.workspace)?.settle()
    const agentToken = await running.addAgent('reader')
    const token = await running.claim('reader', agentToken, await running.addTask())
    const find = (by: string, phase: unknown) =>
      running.call('POST', '/knowledge/search', by, { query: 'marmalade', phase })
    const files = async (by: string, phase: unknown) =>
      ((await find(by, phase)).body.results as readonly { readonly file: string }[]).map(({ file }) => file)
    for (const wrong of [-1, 1.5, true, null, [1], '', 'x'.repeat(65)])
      expect(await find(token, wrong)).toMatchObject({
        status: 400,
        body: { code: 'invalid_request', detail: expect.stringContaining('phase') },
      })
    expect(await files(token, 2)).toEqual([])
    expect(await files(token, 1)).toEqual(['docs/phases/1/guide.md'])
    expect(await files(token, '1')).toEqual(['docs/phases/1/guide.md'])
    expect(await files(running.operator, 2)).toEqual(['docs/two.md'])
    const agent = await McpAgent.connect(running.url, agentToken, ERAS[1] as Era)
    const found = await agent.does('search_standards', { query: 'marmalade', phase: 1 })
    expect(found.results).toMatchObject([{ file: 'docs/phases/1/guide.md' }])
    expect(await agent.does('search_standards', { query: 'marmalade', phase: 2 })).toMatchObject({ results: [] })
    await agent.close()
    await running.stop()
  })
})
