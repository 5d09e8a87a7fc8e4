import { Icon } from '../../ui/icon.js'
import { ScrollBox } from '../../ui/scroll-box.js'
import { showHidden } from '../../ui/text/hidden-characters.js'
import type { CouncilStory, CouncilVote } from './council-story.js'

/** Who voted for whom: voters as rows, candidates as columns. Votes that a later answer made void are struck out. */
export function VoteMatrix({ story }: { readonly story: CouncilStory }) {
  const agents = [...story.agents.values()]
  const latest = findLatestVotes(story)
  const standing = (id: string) => [...latest.values()].filter((vote) => vote.votedFor === id && !vote.isVoid).length
  if (story.votes.length === 0) return <p className="muted">Nobody has voted yet.</p>
  return (
    <ScrollBox className="cou-scroll" label="Votes">
      <table className="cou-votes">
        <caption className="sr">Who voted for whom</caption>
        <thead>
          <tr>
            <th scope="col">Voter</th>
            {agents.map(({ id, anonymousId }) => (
              <th key={id} scope="col" title={id}>
                {id}
                <small>{anonymousId}</small>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {agents.map((voter) => (
            <tr key={voter.id}>
              <th scope="row">{voter.id}</th>
              {agents.map((candidate) => (
                <VoteCell key={candidate.id} vote={latest.get(voter.id)} candidate={candidate.id} />
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Votes that count</th>
            {agents.map(({ id }) => (
              <td key={id} className={story.decided?.winner === id ? 'cou-most' : ''}>
                {standing(id)}
              </td>
            ))}
          </tr>
        </tfoot>
      </table>
    </ScrollBox>
  )
}

function VoteCell({ vote, candidate }: { readonly vote: CouncilVote | undefined; readonly candidate: string }) {
  if (vote === undefined || vote.votedFor !== candidate) return <td className="muted">·</td>
  const said = vote.isVoid ? 'voted, void' : 'voted'
  return (
    <td className={vote.isVoid ? 'cou-cast cou-void' : 'cou-cast'} title={showHidden(vote.reason)}>
      <Icon name="check" />
      <span className="sr">{said}</span> <span className="mono">{vote.label}</span>
    </td>
  )
}

function findLatestVotes(story: CouncilStory): ReadonlyMap<string, CouncilVote> {
  return new Map(story.votes.map((vote) => [vote.voter, vote]))
}
