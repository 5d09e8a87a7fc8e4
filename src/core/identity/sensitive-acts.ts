import type { JsonObject } from '../json.js'
import type { CallId } from './permissions.js'

/** When a sensitive act needs a passkey or passphrase besides the token. */
export const CONFIRM_SETTINGS = ['never', 'native', 'always'] as const
export type ConfirmSetting = (typeof CONFIRM_SETTINGS)[number]

interface Act {
  readonly params: Readonly<Record<string, string>>
  readonly body: JsonObject
}

interface SensitiveAct {
  /** Where the task is named, if the act is about one. */
  readonly about: 'task' | 'approval' | 'question' | 'server'
  /** Sensitive only with such a body; absent: with any. */
  readonly when?: (body: JsonObject) => boolean
  /** What will happen, in one sentence. */
  readonly describe: (act: Act) => string
}

function isLooserMode(mode: unknown): boolean {
  return mode !== undefined && mode !== 'strict'
}

const quote = (value: unknown): string => JSON.stringify(String(value ?? ''))
const ofTask = (verb: string): Pick<SensitiveAct, 'about' | 'describe'> => ({
  about: 'task',
  describe: ({ params }) => `${verb} task ${quote(params.id)}.`,
})

/**
 * Calls of operators that open a gate or loosen a rule. The setting of the server says which of them need a
 * confirmation. `addRoute` asks for it, before the call is handled.
 */
export const SENSITIVE = {
  decideApproval: {
    about: 'approval',
    when: (body) => body.decision !== 'reject',
    describe: ({ params, body }) => `Approve ${quote(params.id)} with the digest ${String(body.digest).slice(0, 12)}….`,
  },
  answerQuestion: {
    about: 'question',
    describe: ({ params, body }) => `Answer question ${quote(params.id)} with ${quote(body.answer)}.`,
  },
  acceptTree: {
    about: 'task',
    describe: ({ params, body }) =>
      `Accept ${Array.isArray(body.paths) ? `${body.paths.length} unexplained` : 'all unexplained'} changes in the work tree of task ${quote(params.id)}.`,
  },
  acceptTools: ofTask('Accept the upstream tools, as their servers list them now, for'),
  installDependencies: ofTask('Run an install command with network for'),
  resumeTask: ofTask('Resume the parked'),
  reassignTask: ofTask('Take from its agent, and resume if it is parked,'),
  rewindTask: {
    about: 'task',
    describe: ({ params, body }) => `Return task ${quote(params.id)} to phase ${quote(body.to_phase)}.`,
  },
  addReviewer: {
    about: 'task',
    describe: ({ params, body }) => `Add the reviewer ${quote(body.name)} to task ${quote(params.id)}.`,
  },
  revokeReviewer: {
    about: 'task',
    describe: ({ params }) =>
      `Revoke the reviewer ${quote(params.name)} of task ${quote(params.id)}; its report no longer counts.`,
  },
  mergeTask: { ...ofTask('Merge, without waiting for its gates,'), when: (body) => body.force === true },
  updateTask: { ...ofTask('Change the mode of'), when: (body) => body.mode !== undefined },
  createTask: {
    about: 'server',
    when: (body) => isLooserMode(body.mode),
    describe: ({ body }) => `Create the task ${quote(body.title)} in the mode ${quote(body.mode)}.`,
  },
  spawnAgent: {
    about: 'server',
    when: ({ task }) => isLooserMode((task as JsonObject | undefined)?.mode),
    describe: ({ body }) =>
      `Start an agent on a new task in the mode ${quote((body.task as JsonObject | undefined)?.mode)}.`,
  },
  addContract: { about: 'server', describe: () => 'Register a contract; tasks can be created under its rules.' },
  trustContract: {
    about: 'server',
    describe: ({ params }) => `Trust the contract ${quote(params.hash?.slice(0, 12))}….`,
  },
  addOperator: {
    about: 'server',
    describe: ({ body }) =>
      `Add the operator ${quote(body.name)}${body.role === undefined ? '' : ` with the role ${quote(body.role)}`}.`,
  },
  participantToken: {
    about: 'server',
    describe: ({ params }) => `Show a token that votes as ${quote(params.agent)} in council ${quote(params.id)}.`,
  },
  unpause: { about: 'server', describe: () => 'Resume all agents.' },
} as const satisfies Partial<Record<CallId, SensitiveAct>>

export type SensitiveId = keyof typeof SENSITIVE

/** Why the other unsafe calls of operators need no confirmation. */
export const NOT_SENSITIVE: Readonly<Partial<Record<CallId, string>>> = {
  login: 'Nobody is logged in yet; the session can do what the token can.',
  logout: 'It ends a session.',
  createLoginCode: 'The session can do no more than the token that asked for the code.',
  revokeSession: 'It ends a session.',
  createConfirmation: 'It only makes the challenge that a passkey signs.',
  passkeyOptions: 'It only makes the challenge for a new passkey.',
  addPasskey: 'It has a stricter rule: always a confirmation, or the code of the first start.',
  revokePasskey: 'It has a stricter rule: always a confirmation.',
  setPassphrase: 'It has a stricter rule: always a confirmation, unless it is the first.',
  searchKnowledge: 'It reads.',
  cancelTask: 'It ends a task.',
  parkTask: 'It stops a task until somebody resumes it.',
  revertTree: 'It removes changes that no call explains.',
  handOverTask: 'It keeps the work as a branch that nothing is built from.',
  discardTask: 'It removes work.',
  addAgent: 'An agent opens no gate.',
  revokeAgent: 'It takes a token away.',
  stopAgent: 'It ends an agent.',
  pause: 'It stops all agents.',
  cancelCoordination: 'It ends a council.',
  revokeOperator: 'It takes a token away.',
  rotateSecret: 'Tokens keep their rights.',
  adoptNode: 'It moves tasks of a node that has gone, and opens no gate.',
  startCoordination: 'A council answers a question and opens no gate.',
}

/** What an act is about, if it is sensitive with this body. */
export function findSensitiveAct(id: CallId, body: JsonObject): SensitiveAct | null {
  const act: SensitiveAct | undefined = isSensitiveId(id) ? SENSITIVE[id] : undefined
  return act === undefined || act.when?.(body) === false ? null : act
}

export function isSensitiveId(id: CallId): id is SensitiveId {
  return Object.hasOwn(SENSITIVE, id)
}

const TASK_IN_ID = /^(?:apr|qst)-\d+-(.+)$/

/** The id of the task that an act is about; null: it is about the whole server. */
export function findTaskOfAct({ about }: SensitiveAct, params: Act['params']): string | null {
  if (about === 'server') return null
  const id = params.id ?? ''
  return about === 'task' ? id : (TASK_IN_ID.exec(id)?.[1] ?? id)
}

/**
 * Whether the act needs a confirmation. `isShellInvolved`: an agent that was ever bound by hooks holds or held the task
 * or, for acts on the whole server, is known at all. (REQ-CONFIRM-1)
 */
export function needsConfirmation(setting: ConfirmSetting, isShellInvolved: boolean): boolean {
  return setting === 'always' || (setting === 'native' && isShellInvolved)
}
