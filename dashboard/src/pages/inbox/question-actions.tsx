import { type ReactNode, useState } from 'react'
import { confirmAct } from '../../api/confirm-act.js'
import type { InboxItem } from '../../api/inbox.js'
import { keys } from '../../api/keys.js'
import { useAct, useRead } from '../../api/use-api.js'
import { Button } from '../../ui/button.js'
import { describeExcess } from '../../ui/controls.js'
import { toPlainText } from '../../ui/plain-text.js'
import { ActionProblem } from '../../ui/states.js'
import { Done } from './act-form.js'

interface Question {
  readonly id: string
  readonly context?: string | null
  readonly options: readonly string[]
}

const ANSWER_CHARS_MAX = 4000

/** Answer a question: with one of its options, or in words. */
export function QuestionActions({ item }: { readonly item: InboxItem }): ReactNode {
  const [text, setText] = useState('')
  const question = useRead<Question>(keys.questions({ id: item.id }), '/questions/{id}', { path: { id: item.id } })
  const act = useAct(
    (body: { answer: string; other: boolean }) =>
      confirmAct({ act: 'answerQuestion', path: '/questions/{id}/answer', params: { id: item.id }, body }),
    [keys.inbox, keys.questions()],
  )
  if (act.isSuccess) return <Done>Answered</Done>
  const excess = describeExcess(text, ANSWER_CHARS_MAX)
  const options = question.data?.options ?? []
  return (
    <>
      {question.data?.context ? <p className="item__body">“{toPlainText(question.data.context)}”</p> : null}
      <form
        className="answer"
        onSubmit={(event) => {
          event.preventDefault()
          if (text.trim() !== '' && excess === null) act.mutate({ answer: text.trim(), other: options.length > 0 })
        }}
      >
        {options.map((option) => (
          <Button
            key={option}
            className="answer__option"
            busy={act.isPending}
            onClick={() => act.mutate({ answer: option, other: false })}
          >
            {toPlainText(option)}
          </Button>
        ))}
        <input
          className="field"
          type="text"
          aria-label={options.length > 0 ? 'Another answer' : 'Your answer'}
          placeholder={options.length > 0 ? 'Another answer' : 'Your answer; it is final'}
          aria-invalid={excess === null ? undefined : true}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        {text.trim() === '' ? null : (
          <Button type="submit" look="primary" busy={act.isPending} disabled={excess !== null}>
            Answer
          </Button>
        )}
        {excess === null ? null : <span className="label__wrong">{excess}</span>}
      </form>
      <ActionProblem error={act.error} />
    </>
  )
}
