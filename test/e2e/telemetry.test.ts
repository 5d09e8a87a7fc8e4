import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { startCollector } from './collector.js'
import { makePlace, serve } from './process.js'

const CONTRACT = `
name: traced
version: "1"
phases:
  - {id: A, allowed_tools: [bash, read_files]}
  - {id: B, allowed_tools: []}
transitions: [{from: A, to: B}]
enforcement: {confinement: best_effort}
`
const SECRET = 'planted-secret-9f3b'

it('[REQ-TRACE-1] a collector gets one joined trace for one tool call, and no secret', async () => {
  const collector = await startCollector()
  const place = await makePlace()
  const contract = join(place.dir, 'contract.yaml')
  writeFileSync(contract, CONTRACT)
  const server = await serve(place, contract, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '200',
  })
  try {
    await server.call('POST', '/tasks', server.operator, { title: SECRET, id: 't1' })
    const { body: agent } = await server.call('POST', '/agents', server.operator, { agent_id: 'ada' })
    const claim = { agent_id: 'ada', task_id: 't1' }
    const { body: claimed } = await server.call('POST', '/tasks/claim', String(agent.agent_token), claim)
    const traceId = '0af7651916cd43dd8448eb211c80319c'
    const call = { task_id: 't1', tool_name: 'bash', args: { command: `echo ${SECRET}` } }
    const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` }
    const ran = await server.call('POST', '/tools/execute', String(claimed.phase_token), call, headers)
    expect([ran.status, ran.body]).toMatchObject([200, { decision: 'allowed' }])
    const find = () => collector.listSpans().filter((span) => span.traceId === traceId)
    const deadline = Date.now() + 20_000
    while (!find().some(({ name }) => name === 'executeTool') && Date.now() < deadline) await sleep(50)
    const spans = find()
    const byId = new Map(spans.map((span) => [span.spanId, span]))
    const [root] = spans.filter(({ name }) => name === 'executeTool')
    expect(root?.parentSpanId).toBe('b7ad6b7169203331')
    const names = spans.map(({ name }) => name)
    for (const name of ['decide', 'append', 'sandbox run']) expect(names).toContain(name)
    for (const span of spans) {
      let top = span
      for (
        let parent = byId.get(span.parentSpanId ?? '');
        parent !== undefined;
        parent = byId.get(top.parentSpanId ?? '')
      )
        top = parent
      expect([span.name, top.name]).toEqual([span.name, 'executeTool'])
    }
    const append = spans.find(({ name }) => name === 'append')
    expect(byId.get(append?.parentSpanId ?? '')?.name).toBe('decide')
    expect(root?.attributes).toContainEqual({ key: 'gen_ai.tool.name', value: { stringValue: 'bash' } })
    expect(await server.stop()).toBe(0)
    expect(collector.received.some(({ path }) => path === '/v1/metrics')).toBe(true)
    const all = collector.received.map(({ text }) => text).join('\n')
    expect(all).toContain('phaselock.operation.duration')
    for (const secret of [SECRET, server.operator, String(agent.agent_token), String(claimed.phase_token)])
      expect(all).not.toContain(secret)
  } finally {
    await server.kill()
    collector.close()
    place.remove()
  }
}, 120_000)

it('[REQ-TRACE-2] a collector that is away holds up neither a call nor the end of the server', async () => {
  const place = await makePlace()
  const contract = join(place.dir, 'contract.yaml')
  writeFileSync(contract, CONTRACT)
  const server = await serve(place, contract, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' })
  try {
    const made = await server.call('POST', '/tasks', server.operator, { title: 't', id: 't1' })
    expect(made.status).toBe(201)
    expect(await server.stop()).toBe(0)
  } finally {
    await server.kill()
    place.remove()
  }
}, 120_000)
