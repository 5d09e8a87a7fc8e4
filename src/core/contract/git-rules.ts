export interface CommitAuthor {
  readonly name: string
  readonly email: string
}

/** The author of commits where neither the contract nor git names one. */
export const UNNAMED_AUTHOR: CommitAuthor = { name: 'agent', email: 'agent@localhost' }

/** `Name <address>`, as git writes it. */
export function formatAuthor({ name, email }: CommitAuthor): string {
  return `${name} <${email}>`
}

/** What `git:` of a contract says about commits of agents. */
export interface GitRules {
  /** The author of commits; absent: from the operator's git configuration. */
  readonly author?: CommitAuthor
  /** `run`: hooks of the repository are run in the sandbox before a commit. Absent: they are skipped. */
  readonly hooks?: 'run'
  /** `skip`: commits are not signed where the settings demand a signature. Absent: such a task is refused at claim. */
  readonly sign?: 'skip'
}

const AUTHOR = /^([^<>\n]*[^<>\s]) <([^<>\s]+@[^<>\s]+)>$/

/** The parts of `Name <address>`; null if the text has another form. */
export function parseAuthor(text: string): CommitAuthor | null {
  const [, name, email] = AUTHOR.exec(text) ?? []
  return name === undefined || email === undefined || CONTROL.test(text) ? null : { name, email }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/

/** Which hooks were run for a commit, and which were not. */
export interface HookRecord {
  readonly ran: readonly string[]
  readonly skipped: readonly string[]
}
