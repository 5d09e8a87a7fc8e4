import { RESULTS_MAX } from '../app/knowledge.js'
import { searchKnowledge } from '../app/search-knowledge.js'
import { startWorkflow } from '../app/tasks/start-workflow.js'
import { completePhase, getPhase } from '../app/transitions/phases.js'
import type { JsonObject } from '../core/json.js'
import { EVIDENCE, makeObjectSchema, NAME } from './tool-schemas.js'
import type { WorkflowTool } from './workflow-tools.js'

// Phases of documents are numbered; their ids are the same number as text.
const PHASE: JsonObject = {
  anyOf: [
    { type: 'string', minLength: 1, maxLength: 64 },
    { type: 'integer', minimum: 0 },
  ],
  description: 'Its id or, in a workflow of documents, its number.',
}

/** Workflows by phase: the content of a phase, and its completion. */
export const PHASE_TOOLS: readonly WorkflowTool[] = [
  {
    name: 'start_workflow',
    description:
      'Only when you have no task and are to begin one yourself: start a workflow and claim its task, if its contract lets agents do so. For a target with an open session, this returns that session.',
    inputSchema: makeObjectSchema({
      workflow_type: { ...NAME, description: 'Name of a contract.' },
      contract: { ...NAME, description: 'Name or hash of a contract; instead of workflow_type.' },
      target_file: { type: 'string', minLength: 1, maxLength: 1024, description: 'The file that the work is about.' },
      task: { type: 'string', minLength: 1, maxLength: 10_000, description: 'What to do.' },
    }),
    isReader: false,
    run: (app, bearer, args) =>
      startWorkflow(app, {
        workflowType: args.workflow_type as string | undefined,
        contract: args.contract as string | undefined,
        target: args.target_file as string | undefined,
        task: args.task as string | undefined,
        by: { kind: 'agent', bearer },
      }),
  },
  {
    name: 'get_phase_content',
    description: 'The content of the current phase, or of one that you have completed; of no other.',
    inputSchema: makeObjectSchema({ phase: PHASE }),
    isReader: true,
    run: (app, bearer, args) =>
      getPhase(app, { bearer, phase: args.phase === undefined ? undefined : String(args.phase) }),
  },
  {
    name: 'complete_phase',
    description:
      'Only in workflows of documents, whose phases have numbers and demand evidence: hand it in. When it holds and no gate is in the way, the next phase opens. Otherwise use request_transition.',
    inputSchema: makeObjectSchema({ phase: PHASE, evidence: EVIDENCE }, ['phase', 'evidence']),
    isReader: false,
    run: (app, bearer, args) =>
      completePhase(app, { bearer, phase: String(args.phase), evidence: args.evidence ?? null, once: undefined }),
  },
  {
    name: 'search_standards',
    description: 'Find passages in the standards and guides that the contract names. For reading: it decides nothing.',
    inputSchema: makeObjectSchema(
      {
        query: { type: 'string', description: 'The first 4,000 characters are looked at.' },
        phase: PHASE,
        tags: { type: 'array', items: NAME, maxItems: 20, description: 'A passage must have all of them.' },
        n_results: { type: 'integer', minimum: 1, maximum: RESULTS_MAX },
      },
      ['query'],
    ),
    isReader: true,
    run: (app, bearer, args) =>
      searchKnowledge(
        app,
        { kind: 'agent', bearer },
        {
          query: String(args.query),
          phase: args.phase === undefined ? undefined : String(args.phase),
          tags: args.tags as readonly string[] | undefined,
          results: args.n_results as number | undefined,
        },
      ),
  },
]
