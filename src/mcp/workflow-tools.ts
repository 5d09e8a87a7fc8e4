import type { App } from '../app/app.js'
import { admitCall } from '../app/identity/agent-call.js'
import { ok, type Result, refuse } from '../app/result.js'
import { claimTask } from '../app/tasks/claim-task.js'
import { continuePrompt, nextPrompt } from '../app/tasks/prompts.js'
import { requestTransition } from '../app/transitions/request-transition.js'
import type { AgentBearer } from '../core/identity/admit.js'
import type { Json, JsonObject } from '../core/json.js'
import { PHASE_TOOLS } from './phase-tools.js'
import { ARTIFACTS, CLAIMS, EVIDENCE, ID, makeObjectSchema, NAME } from './tool-schemas.js'
import { buildWorkflowState } from './workflow-state.js'

/** A tool that every contract has: it moves the agent through the workflow. */
export interface WorkflowTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  /** It changes nothing. */
  readonly isReader: boolean
  readonly run: (app: App, bearer: AgentBearer, args: JsonObject) => Promise<Result<JsonObject>>
}

const PHASE = NAME

const TOOLS: readonly WorkflowTool[] = [
  {
    name: 'claim_task',
    description: 'Get a task to work on, or the one that you hold already. Begin with this when you have none.',
    inputSchema: makeObjectSchema({
      task_id: { ...ID, description: 'This task only; left out: the oldest one that you can do.' },
      capabilities: { type: 'array', items: ID, maxItems: 100, uniqueItems: true },
    }),
    isReader: false,
    run: async (app, bearer, args) =>
      bearer.kind === 'agent'
        ? claimTask(app, {
            bearer,
            capabilities: args.capabilities as readonly string[] | undefined,
            taskId: args.task_id as string | undefined,
            once: undefined,
          })
        : refuse('not_permitted', 'A claim needs the agent token, not a phase token.'),
  },
  {
    name: 'get_workflow_state',
    description: 'Where your task stands: its phase, what is done, what is missing and the next legal step.',
    inputSchema: makeObjectSchema({}),
    isReader: true,
    run: async (app, bearer) => {
      const call = await admitCall(app, bearer, undefined)
      return call.ok ? ok(await buildWorkflowState(app, call.value)) : call
    },
  },
  {
    name: 'request_transition',
    description:
      'Ask to leave the phase, with the artifacts it demands. Every blocker is named, or the next phase opens. This is how you go on in most workflows.',
    inputSchema: makeObjectSchema(
      { target_phase: PHASE, current_phase: PHASE, artifacts: ARTIFACTS, evidence: EVIDENCE, claims: CLAIMS },
      ['target_phase'],
    ),
    isReader: false,
    run: (app, bearer, args) =>
      requestTransition(app, {
        bearer,
        taskId: undefined,
        currentPhase: (args.current_phase as string | undefined) ?? null,
        target: args.target_phase as string,
        ...toOffer(args),
        once: undefined,
      }),
  },
  {
    name: 'next',
    description:
      'Only for contracts whose transitions are named by claims (`when`): makes the transition that your claim leads to, or answers with an interrupt or the prompt. Otherwise use request_transition.',
    inputSchema: makeObjectSchema({ claims: CLAIMS, artifacts: ARTIFACTS, evidence: EVIDENCE }),
    isReader: false,
    run: (app, bearer, args) => nextPrompt(app, { bearer, taskId: undefined, ...toOffer(args), once: undefined }),
  },
  {
    name: 'continue',
    description:
      'Only after an interrupt: acknowledge the rule that you were shown, and get the prompt of the phase. Not needed to go on with work.',
    inputSchema: makeObjectSchema({}),
    isReader: false,
    run: (app, bearer) => continuePrompt(app, bearer, undefined),
  },
]

/** By name. A contract's own tool with one of these names cannot be called over MCP. */
export const WORKFLOW_TOOLS: ReadonlyMap<string, WorkflowTool> = new Map(
  [...TOOLS, ...PHASE_TOOLS].map((tool) => [tool.name, tool]),
)

function toOffer(args: JsonObject) {
  const claims = Object.entries((args.claims as Readonly<Record<string, boolean>> | undefined) ?? {})
  return {
    artifacts: new Map<string, Json>(Object.entries((args.artifacts as JsonObject | undefined) ?? {})),
    evidence: (args.evidence as JsonObject | undefined) ?? null,
    claims: claims.filter(([, isMade]) => isMade).map(([name]) => name),
  }
}
