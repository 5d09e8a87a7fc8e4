import type { RefusalFields } from '../task/event.js'

/** What agents ask the operators. */
export type QuestionFact =
  | {
      readonly type: 'question_asked'
      readonly questionId: string
      readonly agentId: string
      readonly question: string
      readonly options: readonly string[]
    }
  | { readonly type: 'question_answered'; readonly questionId: string; readonly answer: string; readonly by: string }
  | { readonly type: 'question_withdrawn'; readonly questionId: string; readonly reason: string }
  /** `questionId` is null where the question was not opened at all. */
  | (RefusalFields & { readonly type: 'question_refused'; readonly questionId: string | null; readonly by: string })
