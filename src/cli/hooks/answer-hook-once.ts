import { readFileSync } from 'node:fs'
import { isObject, type JsonObject } from '../../core/json.js'
import type { HookDialect } from '../../hooks/hook-message.js'
import { connect } from '../client/connection.js'
import { requireProof } from '../client/prove-server.js'

const INPUT_BYTES_MAX = 8 * 1024 * 1024
const SECONDS_MAX = 20
/** What agent CLIs take for a refusal, whatever is on standard output. */
const REFUSED = 2

interface HookCall {
  readonly url?: string
  readonly stateDir?: string
  readonly secretFile?: string
  readonly seconds?: string
}

/**
 * Reads a hook from standard input, asks the server and prints its answer. Every failure is a refusal in the words of
 * the agent CLI.
 */
export async function answerHookOnce(dialect: HookDialect, call: HookCall): Promise<void> {
  let body: unknown
  try {
    const signal = AbortSignal.timeout(readSeconds(call.seconds) * 1000)
    const text = await readInput(signal)
    body = JSON.parse(text)
    if (!isObject(body)) throw new Error('the hook is not an object')
    print(await ask(dialect, { timestamp: new Date().toISOString(), ...body }, { ...call, signal }))
  } catch (error) {
    refuse(dialect, body, error)
  }
}

async function ask(
  { agentCli }: HookDialect,
  body: JsonObject,
  { secretFile, signal, ...where }: HookCall & { readonly signal: AbortSignal },
): Promise<JsonObject> {
  // In a connected repository there is no token: the session has it.
  if (secretFile === undefined && (process.env.PHASELOCK_TOKEN ?? '') === '')
    return (await import('../connected/ask-session.js')).askSession({ agentCli, body, signal })
  const token = readSecret(secretFile)
  const { url, stateDir } = connect({ ...where, token })
  if (stateDir !== null) await requireProof(stateDir, url)
  const response = await fetch(`${url}/api/v1/hooks/${agentCli}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
    redirect: 'error',
    signal,
  })
  const answer: unknown = await response.json()
  if (response.status !== 200 || !isObject(answer)) throw new Error(`the server answered ${response.status}`)
  return answer
}

function readSecret(file: string | undefined): string {
  const token = file === undefined ? (process.env.PHASELOCK_TOKEN ?? '') : readFileSync(file, 'utf8')
  if (!/^[\x21-\x7e]+$/.test(token.trim())) throw new Error("the agent's token is missing")
  return token.trim()
}

function readSeconds(given: string | undefined): number {
  const seconds = given === undefined ? SECONDS_MAX : Number(given)
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 3600) : SECONDS_MAX
}

async function readInput(signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  signal.addEventListener('abort', () => process.stdin.destroy(new Error('the hook did not end in time')))
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > INPUT_BYTES_MAX) throw new Error(`the hook is larger than ${INPUT_BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

// The words of the agent CLI on standard output, and for a tool that would run also the exit code: some read only one.
function refuse(dialect: HookDialect, body: unknown, error: unknown): void {
  const reason = `Phaselock did not answer (${error instanceof Error ? error.message.split('\n')[0] : 'fault'}). Nothing is allowed until it does: start it with \`phaselock up\`.`
  const read = isObject(body) ? dialect.read(body) : null
  // The canary has no session. Its prompt may pass, so that its call meets the hook that has to refuse it.
  if (process.env.PHASELOCK_CANARY === '1' && read?.ok === true && read.hook.kind === 'prompt') {
    print(dialect.answers.pass(null))
    return
  }
  process.stderr.write(`${reason}\n`)
  print(dialect.answers.refuse(body, reason))
  const letsGo = read?.ok === true && read.hook.kind !== 'before_tool' && read.hook.kind !== 'config_change'
  process.exitCode = letsGo ? 0 : REFUSED
}

function print(answer: JsonObject): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
