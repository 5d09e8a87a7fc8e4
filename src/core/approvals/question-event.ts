import type { Refused } from '../task/fact-parts.js'

/** Events of agents' questions to the operators. */
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
  /** `questionId` is null if the question was not opened at all. */
  | (Refused & { readonly type: 'question_refused'; readonly questionId: string | null; readonly by: string })
