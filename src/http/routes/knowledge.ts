import { RESULTS_MAX } from '../../app/knowledge.js'
import { searchKnowledge } from '../../app/search-knowledge.js'
import { SEARCH } from '../answers/phase-answers.js'
import { FIELD, makeAgentShape } from '../fields.js'
import { type Route, requireParty } from '../route.js'

const NAME = { type: 'string', minLength: 1, maxLength: 64 } as const

/** Standards and guides, for reading. */
export const KNOWLEDGE_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: '/knowledge/search',
    id: 'searchKnowledge',
    summary: 'Passages of the documents that the contract names, found by words and by meaning',
    body: makeAgentShape(
      {
        task_id: FIELD.id,
        query: { type: 'string', description: 'Anything; the first 4,000 characters are looked at.' },
        phase: FIELD.phaseOrNumber,
        tags: { type: 'array', items: NAME, maxItems: 20, description: 'A passage must have all of them.' },
        workflow: NAME,
        n_results: { type: 'integer', minimum: 1, maximum: RESULTS_MAX, description: 'How many at most; default 5.' },
      },
      ['query'],
    ),
    answer:
      '`{results: [{content, file, section, start_line, score, tokens, tags, phase}], total_tokens, retrieval_method, degraded?, hint?, query_time_ms, index_version}`',
    response: SEARCH,
    handle: async (call) =>
      searchKnowledge(call.app, requireParty(call), {
        taskId: call.body.task_id as string | undefined,
        query: String(call.body.query),
        phase: call.body.phase === undefined ? undefined : String(call.body.phase),
        tags: call.body.tags as readonly string[] | undefined,
        workflow: call.body.workflow as string | undefined,
        results: call.body.n_results as number | undefined,
      }),
  },
]
