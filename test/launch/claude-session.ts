import { claudeCode } from '../participants/real-agents.js'
import { pressUntil, sleep, until, type Window } from './terminal.js'
import type { TriedCli } from './tried-cli.js'

export const CLAUDE: TriedCli = {
  ...{
    name: 'claude',
    title: 'claude',
    found: claudeCode(),
    act: (script) => script,
    tellsErrors: true,
    hasStatusLine: true,
  },
  ...{ running: 'claude.*--strict-mcp-config', leave: '/exit', answer: answerForm },
  start: async (window, words) => {
    await window.enter(`phaselock claude ${words}`)
    if (words.includes('--worktree')) await trustFolder(window)
  },
  answerLate: (window) => answerForm(window, 'reject'),
  clear: async (window) => {
    await window.enter('/clear')
    await until(
      () => window.screen(),
      (screen) => !/Done\./.test(screen.slice(-400)),
    )
  },
}

/** Claude Code asks about a folder that it has not seen before. */
async function trustFolder(window: Window): Promise<void> {
  if (!/Yes, I trust/.test(await window.shows(/Yes, I trust|go from PLAN to TDD/))) return
  await pressUntil(window, 'Down', (screen) => screen.includes('❯ Yes, I trust'))
  await pressUntil(window, 'Enter', (screen) => !screen.includes('Yes, I trust'))
}

/** Fills in the form of Claude Code as a person would: chooses, writes a comment, accepts. */
export async function answerForm(window: Window, decision: 'approve' | 'reject', comment = ''): Promise<void> {
  await window.shows(/❯ \* Decision/)
  window.press('Right')
  await window.shows(/reject\s*$/m)
  if (decision === 'reject') window.press('Down')
  await sleep(300)
  window.press('Enter')
  await window.shows(new RegExp(`Decision: ${decision}`))
  if (comment !== '') {
    await window.shows(/❯\s+Comment/)
    await window.enter(comment)
  }
  await pressUntil(window, 'Down', (screen) => ACCEPTED.test(screen.slice(-END_CHARS)))
  await pressUntil(window, 'Enter', (screen) => !ACCEPTED.test(screen.slice(-END_CHARS)))
}

const ACCEPTED = /❯ Accept/
// What was on the screen before may still be above.
const END_CHARS = 400
