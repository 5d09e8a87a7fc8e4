import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { packagePath } from '../../base/package-root.js'
import { isObject, type JsonObject } from '../../core/json.js'
import { EXIT, Stop } from '../exit.js'
import { quoteShellWord } from '../program-name.js'
import { readProgramVersion } from '../version.js'
import type { PreparedSession, SessionPlan } from './agent-cli-kind.js'

/** More than the script takes: Codex runs a tool whose hook is too late. */
const HOOK_SECONDS_MAX = 30
const ANSWER_MS_MAX = 20_000
/** A failure keeps the tool from running, the prompt from being sent. */
const CLOSED = ['PreToolUse', 'UserPromptSubmit']
/** A turn that is kept from ending by a failure would begin again without end. */
const OPEN = ['PostToolUse', 'SessionStart', 'SubagentStart', 'Stop', 'SubagentStop', 'PreCompact']

/** What the script of the hooks finds in its environment. */
export function buildCodexHookVariables({ url }: SessionPlan): Readonly<Record<string, string>> {
  return { PHASELOCK_HOOKS: url }
}

/** The hooks of the session, as values of Codex's configuration: every tool and every event. */
export function buildCodexHooks(): readonly string[] {
  const set = (event: string, mode: string): string =>
    `hooks.${event}=[{ matcher = ".*", hooks = [{ type = "command", command = ${JSON.stringify(formatCommand(mode))}, timeout = ${HOOK_SECONDS_MAX} }] }]`
  return [...CLOSED.map((event) => set(event, '')), ...OPEN.map((event) => set(event, ' open'))]
}

// The text of the script and not its path: commands of the agent can write into folders of temporary files.
function formatCommand(mode: string): string {
  return `sh -c ${quoteShellWord(readFileSync(packagePath('runtime/agent-hooks/hook.sh'), 'utf8'))} hook.sh codex${mode}`
}

/**
 * Codex skips hooks that nobody trusted, without a word. Asks it for the hashes of the hooks of this session, trusts
 * exactly these for this session, and asks again whether they are active.
 */
export async function trustCodexHooks(plan: SessionPlan, prepared: PreparedSession): Promise<PreparedSession> {
  const found = await listHooks(plan, prepared.args)
  const states = found.map(
    ({ key, currentHash }) =>
      `${JSON.stringify(key)} = { enabled = true, trusted_hash = ${JSON.stringify(currentHash)} }`,
  )
  const trusted = { ...prepared, args: ['-c', `hooks.state={ ${states.join(', ')} }`, ...prepared.args] }
  const active = (await listHooks(plan, trusted.args)).filter(
    ({ enabled, trustStatus }) => enabled === true && trustStatus === 'trusted',
  )
  if (active.length === CLOSED.length + OPEN.length) return trusted
  throw new Stop(
    EXIT.refused,
    `Codex does not run the hooks of this session, so that nothing would hold its own tools (${active.length} of ${CLOSED.length + OPEN.length} are active).\nLook for requirements of your administrator that allow only other hooks, or leave --native out.`,
  )
}

/** The hooks of this session that Codex knows with these arguments. */
async function listHooks(plan: SessionPlan, args: readonly string[]): Promise<readonly JsonObject[]> {
  const result = await askAppServer(plan, { args: listOverrides(args), method: 'hooks/list' })
  const [place] = isObject(result) && Array.isArray(result.data) ? result.data : []
  const hooks = isObject(place) && Array.isArray(place.hooks) ? place.hooks.filter(isObject) : []
  const own = new Set(['', ' open'].map(formatCommand))
  return hooks.filter(({ command, source }) => source === 'sessionFlags' && own.has(String(command)))
}

function listOverrides(args: readonly string[]): readonly string[] {
  return args.flatMap((word, at) => (args[at - 1] === '-c' ? ['-c', word] : []))
}

interface Asked {
  readonly args: readonly string[]
  readonly method: string
}

// Codex answers on its standard output, line by line, and ends when its input does.
function askAppServer({ program, workspace, environment }: SessionPlan, { args, method }: Asked): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args, 'app-server'], {
      ...{ cwd: workspace, env: environment, stdio: ['pipe', 'pipe', 'ignore'], timeout: ANSWER_MS_MAX },
    })
    const send = (message: JsonObject): boolean => child.stdin.write(`${JSON.stringify(message)}\n`)
    child.once('error', reject)
    child.stdin.once('error', reject)
    createInterface({ input: child.stdout }).on('line', (line) => {
      const message = parseObject(line)
      if (message?.id === 1) send({ id: 2, method, params: { cwds: [workspace] } })
      if (message?.id !== 2) return
      resolve(message.result)
      child.stdin.end()
    })
    child.once('close', () => resolve(null))
    send({ id: 1, method: 'initialize', params: { clientInfo: { name: 'phaselock', version: readProgramVersion() } } })
    send({ method: 'initialized' })
  })
}

function parseObject(line: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
