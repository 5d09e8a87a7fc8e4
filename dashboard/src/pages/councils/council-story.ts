import { readCount, readList, readName, readText } from './read-values.js'

/** An event of a council, as `GET /coordinations/{id}/stream` sends it. */
export interface CouncilEvent {
  readonly type: string
  readonly at: string
  readonly data: Readonly<Record<string, unknown>>
}

/** What an agent writes at the moment: streamed between the events, kept nowhere. */
export interface StreamedPart {
  readonly agent: string
  readonly type: string
  readonly text?: string
  readonly name?: string
}

/** One refused response. */
export interface Rejection {
  readonly attempt: number
  readonly maxAttempts: number
  readonly reason: string
  readonly message: string
  readonly calls: readonly string[]
  readonly preview: string
  readonly charsLost: number
  readonly isRestart: boolean
  readonly at: string
}

export interface CouncilAnswer {
  readonly agent: string
  readonly label: string
  readonly content: string
  readonly verdict: string | null
  readonly round: number
  readonly at: string
}

export interface CouncilVote {
  readonly voter: string
  readonly votedFor: string
  readonly label: string
  readonly reason: string
  readonly round: number
  readonly at: string
  /** A later answer made it void. */
  readonly isVoid: boolean
}

/** What one agent did in one of its rounds. */
export interface RoundOfAgent {
  readonly agent: string
  readonly round: number
  readonly shown: readonly string[]
  readonly turns: number
  readonly restarts: number
  readonly answers: readonly CouncilAnswer[]
  readonly votes: readonly CouncilVote[]
  readonly rejections: readonly Rejection[]
  readonly askedAgain: number
  readonly ended: { readonly how: 'stopped' | 'failed' | 'timed_out'; readonly message: string } | null
}

export interface CouncilAgent {
  readonly id: string
  readonly anonymousId: string
  readonly round: number
  readonly turns: number
  readonly seen: ReadonlySet<string>
  readonly tokens: number
  readonly isWorking: boolean
  readonly isGone: boolean
}

export interface CouncilStory {
  readonly question: string
  readonly startedAt: string | null
  readonly agents: ReadonlyMap<string, CouncilAgent>
  readonly rounds: ReadonlyMap<string, RoundOfAgent>
  readonly answers: readonly CouncilAnswer[]
  readonly votes: readonly CouncilVote[]
  readonly decided: { readonly winner: string | null; readonly label: string | null; readonly isTie: boolean } | null
  readonly presentation: string | null
  readonly ended: { readonly reason: string; readonly details: string; readonly at: string } | null
}

export const EMPTY_STORY: CouncilStory = {
  question: '',
  startedAt: null,
  agents: new Map(),
  rounds: new Map(),
  answers: [],
  votes: [],
  decided: null,
  presentation: null,
  ended: null,
}

/** Folds one event of the stream into what the page shows. Unknown events change nothing. */
export function tellEvent(story: CouncilStory, event: CouncilEvent): CouncilStory {
  const { data, at } = event
  switch (event.type) {
    case 'run_started':
      return tellStart(data, at)
    case 'answer_accepted':
      return tellAnswer(story, event)
    case 'vote_cast':
      return tellVote(story, event)
    case 'run_decided':
      return {
        ...story,
        decided: { winner: readName(data.winner), label: readName(data.label), isTie: data.is_tie === true },
      }
    case 'final_presented':
      return { ...story, presentation: readText(data.text) }
    case 'run_ended':
      return {
        ...story,
        ended: { reason: readText(data.finish_reason), details: readText(data.details), at },
        agents: new Map([...story.agents].map(([id, agent]) => [id, { ...agent, isWorking: false }])),
      }
    default:
      return tellTurn(story, event)
  }
}

/** The highest round that any agent is in. */
export function countRounds(story: CouncilStory): number {
  return Math.max(1, ...[...story.agents.values()].map((agent) => agent.round))
}

export function findRound(story: CouncilStory, agent: string, round: number): RoundOfAgent | null {
  return story.rounds.get(roundKey(agent, round)) ?? null
}

function tellStart(data: CouncilEvent['data'], at: string): CouncilStory {
  const listed = Array.isArray(data.agents) ? data.agents : []
  const ids = listed.map((agent) => readText((agent as { id?: unknown }).id))
  // Agents are numbered in the order of their sorted ids, once for the whole council.
  const sorted = [...ids].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return {
    ...EMPTY_STORY,
    question: readText(data.question),
    startedAt: at,
    agents: new Map(
      ids.map((id) => [
        id,
        {
          id,
          anonymousId: `agent${sorted.indexOf(id) + 1}`,
          round: 1,
          turns: 0,
          seen: new Set<string>(),
          tokens: 0,
          isWorking: false,
          isGone: false,
        },
      ]),
    ),
  }
}

function tellAnswer(story: CouncilStory, { data, at }: CouncilEvent): CouncilStory {
  const agent = readText(data.agent)
  const round = story.agents.get(agent)?.round ?? 1
  const answer: CouncilAnswer = {
    agent,
    label: readText(data.label),
    content: readText(data.content),
    verdict: readName(data.verdict),
    round,
    at,
  }
  const told = changeRound(story, agent, (now) => ({ ...now, answers: [...now.answers, answer] }))
  return {
    ...changeAgent(told, agent, (now) => ({ ...now, isWorking: false })),
    answers: [...story.answers, answer],
    votes: story.votes.map((vote) => ({ ...vote, isVoid: true })),
  }
}

function tellVote(story: CouncilStory, { data, at }: CouncilEvent): CouncilStory {
  const voter = readText(data.agent)
  const vote: CouncilVote = {
    voter,
    votedFor: readText(data.voted_for),
    label: readText(data.label),
    reason: readText(data.reason),
    round: story.agents.get(voter)?.round ?? 1,
    at,
    isVoid: false,
  }
  const told = changeRound(story, voter, (now) => ({ ...now, votes: [...now.votes, vote] }))
  return { ...changeAgent(told, voter, (now) => ({ ...now, isWorking: false })), votes: [...story.votes, vote] }
}

function tellTurn(story: CouncilStory, { type, data, at }: CouncilEvent): CouncilStory {
  const agent = readText(data.agent)
  if (!story.agents.has(agent)) return story
  const shown = readList(data.shown)
  switch (type) {
    case 'turn_began':
      return beginTurn(story, agent, shown)
    case 'answers_injected':
      return changeAgent(story, agent, (now) => ({ ...now, seen: new Set([...now.seen, ...shown]) }))
    case 'vote_asked_again': {
      const told = changeRound(story, agent, (now) => ({ ...now, askedAgain: now.askedAgain + 1 }))
      if (data.handled === 'inline')
        return changeAgent(told, agent, (now) => ({ ...now, seen: new Set([...now.seen, ...shown]) }))
      return showAnswers(told, agent, shown)
    }
    case 'response_rejected':
      return tellRejection(story, agent, { data, at })
    case 'agent_stopped':
    case 'agent_failed':
    case 'agent_timed_out': {
      const how = type === 'agent_stopped' ? 'stopped' : type === 'agent_failed' ? 'failed' : 'timed_out'
      const message = readText(data.message)
      const told = changeRound(story, agent, (now) => ({ ...now, ended: { how, message } }))
      return changeAgent(told, agent, (now) => ({ ...now, isGone: true, isWorking: false }))
    }
    case 'usage_recorded':
      return changeAgent(story, agent, (now) => ({
        ...now,
        tokens: now.tokens + readCount(data.input) + readCount(data.output),
      }))
    default:
      return story
  }
}

function beginTurn(story: CouncilStory, agent: string, shown: readonly string[]): CouncilStory {
  const told = showAnswers(story, agent, shown)
  const counted = changeAgent(told, agent, (now) => ({ ...now, turns: now.turns + 1, isWorking: true }))
  return changeRound(counted, agent, (now) => ({
    ...now,
    shown: shown.length > 0 ? shown : now.shown,
    turns: now.turns + 1,
  }))
}

/** A prompt with answers that are new to the agent begins its next round; the first prompt is always round 1. */
function showAnswers(story: CouncilStory, agent: string, shown: readonly string[]): CouncilStory {
  return changeAgent(story, agent, (now) => {
    const isNew = shown.some((label) => !now.seen.has(label))
    const round = now.turns > 0 && isNew ? now.round + 1 : now.round
    return { ...now, round, seen: new Set([...now.seen, ...shown]) }
  })
}

function tellRejection(story: CouncilStory, agent: string, { data, at }: Omit<CouncilEvent, 'type'>): CouncilStory {
  const isRestart = data.handled === 'restart'
  const rejection: Rejection = {
    attempt: readCount(data.attempt),
    maxAttempts: readCount(data.max_attempts),
    reason: readText(data.reason),
    message: readText(data.message),
    calls: readList(data.tool_calls),
    preview: readText(data.buffer_preview),
    charsLost: isRestart ? readCount(data.buffer_chars) : 0,
    isRestart,
    at,
  }
  return changeRound(story, agent, (now) => ({
    ...now,
    rejections: [...now.rejections, rejection],
    restarts: now.restarts + (isRestart ? 1 : 0),
  }))
}

function changeAgent(story: CouncilStory, id: string, change: (agent: CouncilAgent) => CouncilAgent): CouncilStory {
  const agent = story.agents.get(id)
  return agent === undefined ? story : { ...story, agents: new Map(story.agents).set(id, change(agent)) }
}

function changeRound(story: CouncilStory, id: string, change: (round: RoundOfAgent) => RoundOfAgent): CouncilStory {
  const round = story.agents.get(id)?.round ?? 1
  const now = story.rounds.get(roundKey(id, round)) ?? makeRound(id, round)
  return { ...story, rounds: new Map(story.rounds).set(roundKey(id, round), change(now)) }
}

function makeRound(agent: string, round: number): RoundOfAgent {
  const none = { shown: [], answers: [], votes: [], rejections: [] }
  return { ...none, agent, round, turns: 0, restarts: 0, askedAgain: 0, ended: null }
}

function roundKey(agent: string, round: number): string {
  return `${round} ${agent}`
}
