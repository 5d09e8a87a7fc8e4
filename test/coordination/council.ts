import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Dialect, ModelServer, ScriptedAnswer } from '../participants/model-server.js'

/** Whatever answers requests: a server in this process or one of its own. */
export interface Reachable {
  readonly operator: string
  call(
    method: string,
    path: string,
    token: string | null,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ readonly status: number; readonly body: Record<string, unknown> }>
}

export interface Seated {
  readonly id: string
  readonly anonymous_id: string
  readonly token?: string
}

export interface Attempt {
  readonly round: number
  readonly attempt: number
  readonly max_attempts: number
  readonly reason: string
  readonly tool_calls: readonly string[]
  readonly error_message: string | null
  readonly buffer_preview: string
  readonly buffer_chars: number
  readonly handled: string
  readonly timestamp: number
}

export interface Reliability {
  readonly enforcement_attempts: readonly Attempt[]
  readonly by_round: Readonly<Record<string, { readonly count: number; readonly reasons: readonly string[] }>>
  readonly unknown_tools: readonly string[]
  readonly workflow_errors: readonly string[]
  readonly total_enforcement_retries: number
  readonly total_buffer_chars_lost: number
  readonly outcome: string
}

export interface Status {
  readonly finish_reason: string
  readonly finish_reason_details: string | null
  readonly is_complete: boolean
  readonly agents: Readonly<
    Record<
      string,
      {
        readonly status: string
        readonly answer_count: number
        readonly latest_answer_label: string | null
        readonly vote_cast: { readonly voted_for_agent: string; readonly voted_for_label: string } | null
        readonly error: { readonly type: string; readonly message: string } | null
        readonly times_restarted: number
        readonly reliability: Reliability | null
      }
    >
  >
  readonly results: {
    readonly votes: Readonly<Record<string, number>>
    readonly winner: string | null
    readonly is_tie: boolean
    readonly final_answer_preview: string | null
  }
  readonly coordination: { readonly phase: string; readonly is_final_presentation: boolean }
}

export interface ToolCalls {
  readonly text?: string
  readonly tool_calls: readonly { readonly name: string; readonly arguments?: unknown }[]
}

export const answer = (content: string): ToolCalls => ({
  tool_calls: [{ name: 'new_answer', arguments: { content } }],
})

export const vote = (agentId: string, reason = 'the best'): ToolCalls => ({
  tool_calls: [{ name: 'vote', arguments: { agent_id: agentId, reason } }],
})

export async function begin(
  server: Reachable,
  body: Record<string, unknown>,
): Promise<{ readonly id: string; readonly agents: readonly Seated[] }> {
  const got = await server.call('POST', '/coordinations', server.operator, { question: 'Which way?', ...body })
  expect(got.status, JSON.stringify(got.body)).toBe(201)
  return got.body as unknown as { id: string; agents: Seated[] }
}

export async function statusOf(server: Reachable, id: string): Promise<Status> {
  return (await server.call('GET', `/coordinations/${id}/status`, server.operator)).body as unknown as Status
}

const POLL_MS = 15
const POLL_MS_MAX = 180_000

/** The status once it is as awaited. */
export async function statusWhen(
  server: Reachable,
  id: string,
  isSo: (status: Status) => boolean,
  what = 'the run is as awaited',
): Promise<Status> {
  const until = Date.now() + POLL_MS_MAX
  for (;;) {
    const status = await statusOf(server, id)
    if (isSo(status)) return status
    if (Date.now() > until) throw new Error(`it never was so that ${what}: ${JSON.stringify(status)}`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

export const ended = (server: Reachable, id: string): Promise<Status> =>
  statusWhen(server, id, (status) => status.is_complete, 'the run ended')

/** `status.json` on disk once it says that the run is over: it is written behind the answers. */
export async function fileAtEnd(stateDir: string, id: string): Promise<string> {
  const path = join(stateDir, 'runs', id, 'status.json')
  const read = (): string => (existsSync(path) ? readFileSync(path, 'utf8') : '')
  await expect.poll(read, { timeout: POLL_MS_MAX, interval: POLL_MS }).toContain('"is_complete": true')
  return read()
}

/** The events of a run as the ledger has them, from its stream; the run must be over. */
export async function eventsOf(
  server: Reachable & { readonly url: string },
  id: string,
): Promise<readonly { readonly type: string; readonly data: Record<string, unknown> }[]> {
  const response = await fetch(`${server.url}/api/v1/coordinations/${id}/stream`, {
    headers: { authorization: `Bearer ${server.operator}` },
  })
  return (await response.text()).split('\n\n').flatMap((block) => {
    const data = /^data: (.*)$/m.exec(block)?.[1]
    const type = /^event: (.*)$/m.exec(block)?.[1] ?? ''
    return data === undefined || type === 'part' ? [] : [{ type, ...(JSON.parse(data) as { data: never }) }]
  })
}

let calls = 0

/** A call as a model streams it, in pieces that break in the middle of a word. */
export function streamed(name: string, args: unknown) {
  const text = JSON.stringify(args)
  const half = Math.floor(text.length / 2)
  calls += 1
  return { id: `call_${calls}`, name, pieces: [text.slice(0, half), text.slice(half)] }
}

/** An answer of a model: each piece comes on its own, with a pause here and there. */
export function says(dialect: Dialect, given: ScriptedAnswer) {
  return dialect.answer(given).flatMap((act, index) => (index % 3 === 0 ? [act, { waitMs: 1 }] : [act]))
}

export function model(id: string, dialect: Dialect, server: ModelServer, more: Record<string, unknown> = {}) {
  return { id, kind: 'model', provider: dialect.provider, base_url: server.url, model: 'm', ...more }
}

/** What request `number` told the model: lines as `role: text`. */
export function toldIn(dialect: Dialect, server: ModelServer, number: number): readonly string[] {
  const asked = server.asked[number]
  if (asked === undefined) throw new Error(`the model was asked ${server.asked.length} times`)
  return dialect.told(asked.body)
}

export const toolError = (dialect: Dialect, text: string): string =>
  `${dialect.provider === 'anthropic' ? 'tool error' : 'tool'}: ${text}`
