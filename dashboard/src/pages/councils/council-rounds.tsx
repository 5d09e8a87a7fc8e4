import { Icon } from '../../ui/icon.js'
import { Badge } from '../../ui/marks.js'
import { ScrollBox } from '../../ui/scroll-box.js'
import { showHidden } from '../../ui/text/hidden-characters.js'
import type { Rejection, RoundOfAgent } from './council-story.js'
import { type CouncilAgent, type CouncilAnswer, type CouncilStory, countRounds, findRound } from './council-story.js'
import { CutText } from './cut-text.js'
import { nameReason } from './rejection-reasons.js'

/** Rounds as columns, agents as rows: answers of one round stand side by side with those of the next. */
export function CouncilRounds({
  story,
  streamed,
}: {
  readonly story: CouncilStory
  readonly streamed: ReadonlyMap<string, string>
}) {
  const rounds = Array.from({ length: countRounds(story) }, (_, index) => index + 1)
  return (
    <ScrollBox className="cou-scroll" label="Rounds">
      <table className="cou-rounds">
        <thead>
          <tr>
            <th scope="col">Agent</th>
            {rounds.map((round) => (
              <th key={round} scope="col">
                Round {round}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {[...story.agents.values()].map((agent) => (
            <tr key={agent.id}>
              <AgentHead agent={agent} story={story} />
              {rounds.map((round) => (
                <td key={round}>
                  <RoundCell
                    story={story}
                    cell={findRound(story, agent.id, round)}
                    isNow={agent.round === round && agent.isWorking}
                    streamed={agent.round === round ? (streamed.get(agent.id) ?? '') : ''}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  )
}

function AgentHead({ agent, story }: { readonly agent: CouncilAgent; readonly story: CouncilStory }) {
  const isWinner = story.decided?.winner === agent.id
  return (
    <th scope="row">
      <span className="cou-name">{agent.id}</span>
      <span className="cou-anonymous">{agent.anonymousId}</span>
      {isWinner ? (
        <Badge tone="allowed" icon="ok-circle">
          Winner
        </Badge>
      ) : null}
      {agent.isGone ? (
        <Badge tone="refused" icon="stop">
          Out
        </Badge>
      ) : null}
      {agent.isWorking ? (
        <Badge tone="running" icon="play">
          Writes
        </Badge>
      ) : null}
    </th>
  )
}

function RoundCell({
  story,
  cell,
  isNow,
  streamed,
}: {
  readonly story: CouncilStory
  readonly cell: RoundOfAgent | null
  readonly isNow: boolean
  readonly streamed: string
}) {
  if (cell === null && !isNow) return <span className="muted">–</span>
  return (
    <div className="cou-cell">
      {cell === null || cell.shown.length === 0 ? null : (
        <p className="muted">
          shown <span className="mono">{cell.shown.join(', ')}</span>
        </p>
      )}
      {cell?.rejections.map((rejection) => (
        <RejectedResponse key={`${rejection.at} ${rejection.attempt}`} rejection={rejection} />
      ))}
      {cell !== null && cell.askedAgain > 0 ? (
        <p className="cou-line">
          <Icon name="back" /> Vote not counted: a newer answer came first. Asked again
          {cell.askedAgain > 1 ? ` ${cell.askedAgain} times` : ''}.
        </p>
      ) : null}
      {cell?.answers.map((answer) => (
        <AnswerText key={answer.label} answer={answer} isWinner={story.decided?.label === answer.label} />
      ))}
      {cell?.votes.map((vote) => (
        <p key={vote.at} className={vote.isVoid ? 'cou-line cou-void' : 'cou-line'}>
          <Icon name="check" />
          <span>
            Voted for <b>{vote.votedFor}</b> <span className="mono">{vote.label}</span>
            {vote.isVoid ? ' (void: a later answer came)' : ''}
            {vote.reason === '' ? null : <span className="cou-quote">“{showHidden(vote.reason)}”</span>}
          </span>
        </p>
      ))}
      {cell?.ended === null || cell === null ? null : (
        <p className="cou-line cou-bad">
          <Icon name="stop" />
          <span>
            {cell.ended.how === 'stopped' ? 'Stopped' : cell.ended.how === 'failed' ? 'Failed' : 'Timed out'}:{' '}
            {showHidden(cell.ended.message)}
          </span>
        </p>
      )}
      {isNow ? (
        <div className="cou-live">
          <p className="muted">writes now</p>
          {streamed === '' ? null : <pre className="cou-streamed">{showHidden(streamed)}</pre>}
        </div>
      ) : null}
    </div>
  )
}

function RejectedResponse({ rejection }: { readonly rejection: Rejection }) {
  return (
    <details className="cou-rejection">
      <summary>
        <Icon name="ban" />
        <span>
          <code>{rejection.reason}</code> try {rejection.attempt} of {rejection.maxAttempts}
          {rejection.isRestart ? ', turn restarted' : ''}
        </span>
      </summary>
      <p>{nameReason(rejection.reason)}</p>
      <p className="cou-quote">{showHidden(rejection.message)}</p>
      {rejection.calls.length === 0 ? null : (
        <p>
          It called <span className="mono">{rejection.calls.join(', ')}</span>.
        </p>
      )}
      {rejection.charsLost === 0 ? null : <p>{rejection.charsLost.toLocaleString('en-GB')} characters were lost.</p>}
      {rejection.preview === '' ? null : <pre className="cou-streamed">{showHidden(rejection.preview)}</pre>}
    </details>
  )
}

const ANSWER_CHARS = 600

/** An answer as text, cut after a while; the rest opens in place. */
function AnswerText({ answer, isWinner }: { readonly answer: CouncilAnswer; readonly isWinner: boolean }) {
  return (
    <article className={isWinner ? 'cou-answer cou-answer-won' : 'cou-answer'} aria-label={`Answer ${answer.label}`}>
      <header>
        <span className="mono">{answer.label}</span>
        {answer.verdict === null ? null : (
          <Badge tone={answer.verdict === 'approve' ? 'allowed' : 'refused'}>{answer.verdict.replace('_', ' ')}</Badge>
        )}
        {isWinner ? <span className="cou-won">won</span> : null}
      </header>
      <CutText text={answer.content} chars={ANSWER_CHARS} className="cou-text" />
    </article>
  )
}
