import { useState } from 'react'
import { confirmAct } from '../../api/confirm-act.js'
import { keys } from '../../api/keys.js'
import { useAct, useRead } from '../../api/use-api.js'
import { Button } from '../../ui/button.js'
import { describeExcess } from '../../ui/controls.js'
import { Icon } from '../../ui/icon.js'
import { ActionProblem } from '../../ui/states.js'
import { showHidden } from '../../ui/text/hidden-characters.js'
import { PlainText } from '../../ui/text/plain-text.js'
import { Age } from '../../ui/time.js'
import type { Question } from './task-types.js'

const ANSWER_CHARS_MAX = 4000

/** The questions of a task's agent that nobody has answered yet, each with its answers. */
export function OpenQuestions({ taskId }: { readonly taskId: string }) {
  const { data } = useRead<{ readonly questions: readonly Question[] }>(keys.task(taskId, 'questions'), '/questions', {
    query: { task_id: taskId, status: 'open' },
  })
  return (data?.questions ?? []).map((question) => <QuestionCard key={question.id} question={question} />)
}

function QuestionCard({ question }: { readonly question: Question }) {
  const [answer, setAnswer] = useState('')
  const answering = useAct(
    (body: { readonly answer: string; readonly other: boolean }) =>
      confirmAct<unknown>({
        act: 'answerQuestion',
        path: '/questions/{id}/answer',
        params: { id: question.id },
        body,
      }),
    [keys.task(question.task_id), keys.inbox],
  )
  const excess = describeExcess(answer, ANSWER_CHARS_MAX)
  return (
    <section className="panel question tone-running" aria-label="Question">
      <p className="question__who">
        <Icon name="ask" size={14} />
        <span>
          {question.agent_id} asks, <Age since={question.asked_at} /> ago. The task goes on meanwhile.
        </span>
      </p>
      <p className="question__text agent-text">
        “<PlainText text={question.question} charsMax={4000} />”
      </p>
      <form
        className="answer"
        onSubmit={(event) => {
          event.preventDefault()
          if (answer.trim() !== '' && excess === null)
            answering.mutate({ answer: answer.trim(), other: question.options.length > 0 })
        }}
      >
        {question.options.map((option) => (
          <Button
            key={option}
            busy={answering.isPending}
            onClick={() => answering.mutate({ answer: option, other: false })}
          >
            {showHidden(option)}
          </Button>
        ))}
        <input
          className="field"
          aria-label="Another answer"
          placeholder="Another answer"
          aria-invalid={excess === null ? undefined : true}
          value={answer}
          onChange={({ target }) => setAnswer(target.value)}
        />
        <Button
          type="submit"
          look="primary"
          busy={answering.isPending}
          disabled={answer.trim() === '' || excess !== null}
        >
          Answer
        </Button>
        {excess === null ? null : <span className="label__wrong">{excess}</span>}
      </form>
      <ActionProblem error={answering.error} />
    </section>
  )
}
