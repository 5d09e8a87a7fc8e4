import type { Enforcement } from '../contract/contract.js'
import type { JsonObject } from '../json.js'

/**
 * The caller that the token proves: an agent with its agent token or a phase token, a reviewer, a participant of a
 * council, or an operator. An operator with the role `ci` is a machine; others count as human.
 */
export type Caller = 'agent' | 'phase' | 'reviewer' | 'participant' | 'human' | 'ci'

/** Whether a role stands for a machine and not for a person: `ci`, in any case. */
export function isMachineRole(role: string | null): boolean {
  return role?.toLowerCase() === 'ci'
}

const AGENTS = ['agent', 'phase'] as const
const OPERATORS = ['human', 'ci'] as const
/** Calls that open a gate, loosen a rule, start a program or create an identity that can. */
const HUMANS = ['human'] as const
const PARTIES = [...AGENTS, ...OPERATORS] as const

const EVERYBODY = [...PARTIES, 'reviewer', 'participant'] as const

/** Who may make each call. A route for a call that is not listed does not compile. */
export const PERMISSIONS = {
  // Without a token: a code or token is in the body.
  login: EVERYBODY,

  // Calls of agents.
  claimTask: ['agent'],
  requestTransition: AGENTS,
  executeTool: [...AGENTS, 'reviewer'],
  checkTool: [...AGENTS, 'reviewer'],
  batchTools: [...AGENTS, 'reviewer'],
  renewToken: AGENTS,
  heartbeat: AGENTS,
  releaseTask: AGENTS,
  getPrompt: AGENTS,
  nextPrompt: AGENTS,
  continuePrompt: AGENTS,
  reportUsage: AGENTS,
  getPhase: AGENTS,
  completePhase: AGENTS,
  hookClaudeCode: AGENTS,
  hookCodex: AGENTS,
  hookGemini: AGENTS,
  hookCursor: AGENTS,
  hookCopilot: AGENTS,
  hookOpencode: AGENTS,
  mcp: [...AGENTS, 'reviewer', 'participant'],
  submitReview: ['reviewer'],
  respond: ['participant'],

  // Calls that several roles may make, each for its own part.
  getSnapshot: [...PARTIES, 'reviewer'],
  searchKnowledge: PARTIES,
  getStatus: PARTIES,
  listQuestions: PARTIES,
  getQuestion: PARTIES,
  listReviews: PARTIES,
  getTaskMetrics: PARTIES,
  streamEvents: PARTIES,
  getApproval: [...PARTIES, 'reviewer'],
  getArtifact: [...OPERATORS, 'reviewer'],
  // Never an agent: it could write code that uses what it sees.
  getHeldOut: [...OPERATORS, 'reviewer'],
  getCoordination: [...OPERATORS, 'participant'],

  // Read calls of operators.
  listTasks: OPERATORS,
  getTask: OPERATORS,
  getTimeline: OPERATORS,
  getTaskDiff: OPERATORS,
  getTaskState: OPERATORS,
  getTaskPrompt: OPERATORS,
  getTaskContent: OPERATORS,
  getActivity: OPERATORS,
  getInbox: OPERATORS,
  getRunReport: OPERATORS,
  getInsights: OPERATORS,
  listAgents: OPERATORS,
  showAgent: OPERATORS,
  agentLog: OPERATORS,
  agentScreen: OPERATORS,
  listOperators: OPERATORS,
  listContracts: OPERATORS,
  getContract: OPERATORS,
  getContractText: OPERATORS,
  getContractGraph: OPERATORS,
  listWebhooks: OPERATORS,
  listNodes: OPERATORS,
  checkServer: OPERATORS,
  listApprovals: OPERATORS,
  listCoordinations: OPERATORS,
  coordinationStatus: OPERATORS,
  streamCoordination: OPERATORS,
  queryAudit: OPERATORS,
  recentAudit: OPERATORS,
  auditStats: OPERATORS,
  verifyAudit: OPERATORS,
  exportAudit: OPERATORS,
  metricsSummary: OPERATORS,

  // How operators log in. Each has its own sessions and passkeys.
  createLoginCode: OPERATORS,
  getSession: OPERATORS,
  logout: OPERATORS,
  listSessions: OPERATORS,
  revokeSession: OPERATORS,
  createConfirmation: HUMANS,
  listPasskeys: HUMANS,
  passkeyOptions: HUMANS,
  addPasskey: HUMANS,
  revokePasskey: HUMANS,
  setPassphrase: HUMANS,

  // Calls that CI needs: create tasks, end them, and stop failures. `findCiLimit` says what it may not request.
  createTask: OPERATORS,
  updateTask: OPERATORS,
  cancelTask: OPERATORS,
  parkTask: OPERATORS,
  revertTree: OPERATORS,
  mergeTask: OPERATORS,
  handOverTask: OPERATORS,
  discardTask: OPERATORS,
  addAgent: OPERATORS,
  revokeAgent: OPERATORS,
  stopAgent: OPERATORS,
  pause: OPERATORS,
  cancelCoordination: OPERATORS,

  // Agents may try, and it counts against them. An operator with the role ci decides where the contract names it or its
  // role as an approver, and never as `human` (core/approvals/approval.ts).
  decideApproval: [...PARTIES, 'reviewer'],
  // An answer closes an open question, which may be the last thing a gate waits for.
  answerQuestion: [...AGENTS, ...HUMANS],

  // Humans only.
  resumeTask: HUMANS,
  rewindTask: HUMANS,
  // It resumes a parked task.
  reassignTask: HUMANS,
  acceptTree: HUMANS,
  // It runs a command with network.
  installDependencies: HUMANS,
  acceptTools: HUMANS,
  addReviewer: HUMANS,
  // Removing the reviewer also removes its objections.
  revokeReviewer: HUMANS,
  addContract: HUMANS,
  trustContract: HUMANS,
  addOperator: HUMANS,
  revokeOperator: HUMANS,
  rotateSecret: HUMANS,
  adoptNode: HUMANS,
  unpause: HUMANS,
  spawnAgent: HUMANS,
  // Its agents are programs, or models that are sent a key of the server.
  startCoordination: HUMANS,
  // The token can vote.
  participantToken: HUMANS,
} as const satisfies Readonly<Record<string, readonly Caller[]>>

export type CallId = keyof typeof PERMISSIONS

export interface Forbidden {
  readonly detail: string
  /** Null: the remedy of the code is enough. */
  readonly remedy: string | null
}

export function mayCall(id: CallId, caller: Caller): boolean {
  return listCallers(id).includes(caller)
}

/** Why the caller may not make the call; null when it may. */
export function findForbidden(id: CallId, caller: Caller): Forbidden | null {
  if (mayCall(id, caller)) return null
  if (caller === 'ci' && mayCall(id, 'human'))
    return { detail: 'Operators with the role ci may not do this.', remedy: ASK_A_HUMAN }
  return { detail: describeAllowedCallers(listCallers(id)), remedy: null }
}

/**
 * Whether a caller who may register agents may also give a known one a new token, which gives access to its task.
 * (REQ-ROLES-6)
 */
export function mayRenewAgent(caller: Caller): boolean {
  return caller === 'human'
}

/** Who may make a call, as shown in documentation. */
export function describeCallers(id: CallId): string {
  const callers = listCallers(id)
  if (callers.length === EVERYBODY.length) return 'everybody'
  const names = [
    callers.includes('phase')
      ? 'agents (agent or phase token)'
      : callers.includes('agent')
        ? 'agents (agent token)'
        : '',
    callers.includes('reviewer') ? 'reviewers (review token)' : '',
    callers.includes('participant') ? 'participants (participant token)' : '',
    callers.includes('ci') ? 'operators' : callers.includes('human') ? 'operators without the role ci' : '',
  ].filter((name) => name !== '')
  const last = names.pop() ?? 'nobody'
  return names.length === 0 ? last : `${names.join(', ')} and ${last}`
}

interface CiScene {
  /** Whether the body names the server's own work tree, or none. */
  readonly isOwnTree: boolean
  /** The contract that the body names; null: none, or the server's own. */
  readonly contract: NamedContract | null
}

export interface NamedContract {
  /** A newer contract of its name is known. */
  readonly isReplaced: boolean
  /** Its commands would run in a sandbox here. */
  readonly isSandboxed: boolean
  readonly enforcement: Enforcement
  /** Values of the server's own contract. */
  readonly own: Enforcement
}

/** What an operator with the role ci may not request in a call that it may make; null when nothing is wrong. */
export function findCiLimit(id: CallId, body: JsonObject, scene: CiScene): Forbidden | null {
  if (id === 'createTask') return findTaskLimit(body, scene)
  if ((id === 'mergeTask' || id === 'discardTask') && body.force === true)
    return limit('force', 'force', 'Complete the task first')
  return null
}

function findTaskLimit({ mode }: JsonObject, { isOwnTree, contract }: CiScene): Forbidden | null {
  if (mode !== undefined && mode !== 'strict') return limit('mode', `the mode ${String(mode)}`, 'Leave mode out')
  if (!isOwnTree) return limit('workspace', "a work tree other than the server's own", 'Leave workspace out')
  if (contract === null) return null
  if (contract.isReplaced)
    return limit('contract', 'a contract that a newer one replaced', 'Name the contract instead of its hash')
  if (!contract.isSandboxed)
    return limit('contract', "a contract without a sandbox, unless it is the server's own", 'Name another contract')
  const { enforcement: asked, own } = contract
  const looser = findLooserSetting(own, mode === 'strict' ? { ...asked, mode } : asked)
  return looser === null
    ? null
    : limit('contract', `a contract with ${looser}, which is looser than the server's own`, 'Name another contract')
}

// Each from loosest to strictest.
const LEVELS = {
  mode: ['advisory', 'permissive', 'strict'],
  confinement: ['off', 'best_effort', 'required'],
  reconcile: ['off', 'warn', 'block'],
} as const

/** The first setting in which a contract is looser than another one. */
function findLooserSetting(own: Enforcement, asked: Enforcement): string | null {
  const rank = (key: keyof typeof LEVELS, value: string) => (LEVELS[key] as readonly string[]).indexOf(value)
  const keys = ['mode', 'confinement', 'reconcile'] as const
  const found = keys.find((key) => rank(key, asked[key]) < rank(key, own[key]))
  return found === undefined ? null : `${found}: ${asked[found]}`
}

function limit(field: string, what: string, instead: string): Forbidden {
  return {
    detail: `${field}: operators with the role ci may not ask for ${what}.`,
    remedy: `${instead}, or ask an operator without the role ci.`,
  }
}

const ASK_A_HUMAN = 'Ask an operator without the role ci to do it; `phaselock operator list` names them.'

function listCallers(id: CallId): readonly Caller[] {
  return PERMISSIONS[id]
}

function describeAllowedCallers(callers: readonly Caller[]): string {
  if (callers.includes('human') && !callers.includes('agent')) return 'Only an operator may do this.'
  if (callers.includes('human')) return 'This call is not for reviewers and participants.'
  if (callers.includes('phase')) return 'This call is for agents; use an agent or phase token.'
  if (callers.includes('agent')) return 'A claim needs the agent token, not a phase token.'
  return callers.includes('reviewer')
    ? 'This call is for reviewers; use a review token.'
    : 'This call is for participants of a council; use the token of one.'
}
