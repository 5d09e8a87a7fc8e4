import type { RouteDescription } from './route.js'

interface Tag {
  readonly name: string
  readonly description: string
  /** The first tag whose pattern fits the path of a call is its tag. */
  readonly paths: RegExp
}

const GROUPS: readonly Tag[] = [
  {
    name: 'Work',
    description: 'What an agent calls while it works: claims, tools, transitions, prompts and the life of its token.',
    paths: /^\/(tasks\/(claim|transition|heartbeat|release)|tools|state|tokens|prompt|usage|phases|knowledge)\b/,
  },
  { name: 'Hooks', description: 'What the hooks of agent CLIs call before and after each tool.', paths: /^\/hooks\// },
  {
    name: 'Reviews',
    description: 'Reviewers of a task: who they are, what they see and what they report.',
    paths: /^\/tasks\/:id\/(reviewers|reviews|artifacts|held-out)\b/,
  },
  {
    name: 'Tasks',
    description: 'What operators do with tasks and their work trees.',
    paths: /^\/(tasks|stashes|activity|runs|insights|status)\b/,
  },
  {
    name: 'Decisions',
    description: 'What waits for a person: approvals, questions, and the confirmation of sensitive acts.',
    paths: /^\/(inbox|approvals|questions|confirmations)\b/,
  },
  {
    name: 'Councils',
    description: 'Several agents that answer one question in rounds.',
    paths: /^\/coordinations\b/,
  },
  { name: 'Agents', description: 'Agents, their tokens, and those that the server starts.', paths: /^\/agents\b/ },
  { name: 'Contracts', description: 'The contracts that the server knows.', paths: /^\/contracts\b/ },
  { name: 'Audit', description: 'The ledger: queries, its verification, and its export.', paths: /^\/audit\b/ },
  {
    name: 'Login',
    description: 'How operators log in, with sessions, passkeys and a passphrase.',
    paths: /^\/(login|logout|session|sessions|passkeys|passphrase)\b/,
  },
  {
    name: 'Server',
    description: 'The server itself: operators, secrets, nodes, webhooks, the pause of all agents, events and counts.',
    paths: /^\//,
  },
]

/** The groups of calls in the OpenAPI document, by name. */
export const TAGS: readonly Tag[] = GROUPS.toSorted((a, b) => (a.name < b.name ? -1 : 1))

export function findTag({ path }: RouteDescription): string {
  return GROUPS.find(({ paths }) => paths.test(path))?.name ?? 'Server'
}
