import { Link, useParams } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { api } from '../../api/client.js'
import { keys } from '../../api/keys.js'
import { useAct } from '../../api/use-api.js'
import { Page } from '../../app/page.js'
import { Button } from '../../ui/button.js'
import { Field } from '../../ui/controls.js'
import { Dialog } from '../../ui/dialog.js'
import { Section } from '../../ui/layout-parts.js'
import { Badge } from '../../ui/marks.js'
import { ActionProblem, EmptyState, FailedState, LoadingState } from '../../ui/states.js'
import { Age, Time } from '../../ui/time.js'
import { findOutcome } from './council-outcome.js'
import { CouncilRounds } from './council-rounds.js'
import type { CouncilStory } from './council-story.js'
import { CutText } from './cut-text.js'
import { useCouncilStory } from './use-council-story.js'
import { VoteMatrix } from './vote-matrix.js'
import './councils.css'

const QUESTION_CHARS = 1000
const RESULT_CHARS = 4000

/** One council, live while it runs: rounds as columns, answers side by side, who voted for whom, and who won. */
export function CouncilPage(): ReactNode {
  const { id = '' } = useParams({ strict: false })
  return (
    <Page title="Council" crumbs={[{ name: 'Councils', to: '/coordinations' }]}>
      <Followed id={id} />
    </Page>
  )
}

function Followed({ id }: { readonly id: string }): ReactNode {
  const { story, streamed, status, problem, retry } = useCouncilStory(id)
  if (problem?.status === 404)
    return (
      <EmptyState icon="council" title={`There is no council ${id}`}>
        It may belong to another server. <Link to="/coordinations">See all councils</Link>.
      </EmptyState>
    )
  if (problem !== null) return <FailedState what="The council" error={problem} onRetry={retry} />
  if (story.startedAt === null) return <LoadingState what="The council" rows={5} />
  return (
    <>
      <Head id={id} story={story} isLive={status === 'live'} />
      <div className="stack stack--24">
        <Result story={story} />
        <Section title="Rounds" count={story.agents.size === 1 ? '1 agent' : `${story.agents.size} agents`}>
          <CouncilRounds story={story} streamed={streamed} />
        </Section>
        <Section title="Votes">
          <VoteMatrix story={story} />
        </Section>
      </div>
    </>
  )
}

function Head({ id, story, isLive }: { readonly id: string; readonly story: CouncilStory; readonly isLive: boolean }) {
  const { word, tone, icon } = findOutcome(story.ended?.reason ?? 'in_progress', story.decided?.winner ?? null)
  const refused = [...story.rounds.values()].reduce((sum, round) => sum + round.rejections.length, 0)
  const restarts = [...story.rounds.values()].reduce((sum, round) => sum + round.restarts, 0)
  return (
    <header className="cou-head">
      <div className="cou-facts">
        <Badge tone={tone} icon={icon}>
          {word}
        </Badge>
        <div className="meta">
          <span className="mono">{id}</span>
          {story.startedAt === null ? null : (
            <span>
              began <Time at={story.startedAt} />
            </span>
          )}
          {isLive && story.ended === null && story.startedAt !== null ? (
            <span>
              <Age since={story.startedAt} /> so far
            </span>
          ) : null}
          <span>{refused === 1 ? '1 refused response' : `${refused} refused responses`}</span>
          {restarts === 0 ? null : <span>{restarts === 1 ? '1 restart' : `${restarts} restarts`}</span>}
        </div>
      </div>
      <div>
        <CutText text={story.question} chars={QUESTION_CHARS} className="cou-question" />
      </div>
      {story.ended === null ? <CancelCouncil id={id} /> : null}
    </header>
  )
}

function Result({ story }: { readonly story: CouncilStory }): ReactNode {
  const { decided, ended } = story
  if (ended === null && decided === null) return null
  const answer = story.answers.find((one) => one.label === decided?.label)
  return (
    <section className="panel" aria-label="Result">
      <header className="panel__head">
        <h2 className="h3">{decided?.winner == null ? 'No winner' : `${decided.winner} won`}</h2>
        {answer === undefined ? null : <span className="panel__sub mono">{answer.label}</span>}
        {decided?.isTie === true ? <Badge tone="pending">tie, the first in the file wins</Badge> : null}
      </header>
      <div className="panel__body stack stack--8">
        {ended === null ? null : <p className="soft">{ended.details}</p>}
        {answer === undefined ? null : (
          <div>
            <CutText text={story.presentation ?? answer.content} chars={RESULT_CHARS} className="cou-text" />
          </div>
        )}
      </div>
    </section>
  )
}

function CancelCouncil({ id }: { readonly id: string }): ReactNode {
  const [isOpen, setOpen] = useState(false)
  const [reason, setReason] = useState('')
  const cancel = useAct(
    () => api.post('/coordinations/{id}/cancel', { path: { id }, body: { reason: reason.trim() } }),
    [keys.coordinations()],
  )
  const send = (): void => cancel.mutate(undefined, { onSuccess: () => setOpen(false) })
  return (
    <div className="acts">
      <Button look="reject" icon="stop" onClick={() => setOpen(true)}>
        Cancel…
      </Button>
      {isOpen ? (
        <Dialog
          title="Cancel this council"
          onClose={() => setOpen(false)}
          onSubmit={send}
          footer={
            <Button look="reject" type="submit" busy={cancel.isPending} disabled={reason.trim() === ''}>
              Cancel the council
            </Button>
          }
        >
          <p className="soft">It ends at once, without a winner. Answers and votes stay in the ledger.</p>
          <Field
            label="Reason"
            value={reason}
            maxLength={1000}
            required
            onChange={(event) => setReason(event.target.value)}
          />
          <ActionProblem error={cancel.error} />
        </Dialog>
      ) : null}
    </div>
  )
}
