import type { JsonObject } from '../../core/json.js'

/** Claude Code ignores `onFailure` before this version, and runs a tool when the server of a hook is down. */
export const CLAUDE_CODE_HOOKS_LEAST = '2.1.295'
/** Long enough for a server that is restarted; a person is never waited for in a hook. */
const HOOK_SECONDS_MAX = 90
const START_SECONDS_MAX = 20
const ABOUT_TOOLS = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure']
const ABOUT_SESSIONS = ['UserPromptSubmit', 'SubagentStart', 'Stop', 'SubagentStop', 'ConfigChange', 'PreCompact']

export interface HookTarget {
  /** The address that takes the hooks. */
  readonly url: string
  /** The variable of Claude Code's environment with the token or secret. */
  readonly secretVariable: string
  /** Whether the end of a session is reported too. */
  readonly reportsEnd: boolean
}

/** The `hooks` of Claude Code's settings: every tool and every event, and nothing runs when a hook fails. */
export function buildClaudeCodeHooks(target: HookTarget): JsonObject {
  const entry = [{ hooks: [buildHttpHook(target)] }]
  const ofTools = [{ matcher: '*', hooks: [buildHttpHook(target)] }]
  const events = [...ABOUT_SESSIONS, ...(target.reportsEnd ? ['SessionEnd'] : [])]
  return {
    ...Object.fromEntries(ABOUT_TOOLS.map((event) => [event, ofTools])),
    ...Object.fromEntries(events.map((event) => [event, entry])),
    SessionStart: [{ hooks: [buildStartHook(target)] }],
  }
}

/** Settings that close the ways around hooks. */
export const CLAUDE_CODE_CLOSED_WAYS: JsonObject = {
  disableAllHooks: false,
  // Commands and skills of a repository can start programs before any tool is asked for.
  disableSkillShellExecution: true,
}

function buildHttpHook({ url, secretVariable }: HookTarget): JsonObject {
  return {
    ...{ type: 'http', url, timeout: HOOK_SECONDS_MAX, onFailure: 'block' },
    headers: { Authorization: `Bearer \${${secretVariable}}` },
    allowedEnvVars: [secretVariable],
  }
}

// Claude Code starts only commands for this event. It decides nothing: if it fails, the next prompt has the same text.
function buildStartHook({ url, secretVariable }: HookTarget): JsonObject {
  const command = [
    `curl -sf -m ${START_SECONDS_MAX} -H "Authorization: Bearer $${secretVariable}"`,
    `-H "Content-Type: application/json" --data-binary @- '${url}'`,
  ].join(' ')
  return { type: 'command', command, timeout: START_SECONDS_MAX }
}
