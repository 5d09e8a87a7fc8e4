import { sleep, type Window } from '../launch/terminal.js'

/** Says yes to the question whether a task shall begin. */
export async function answerBegin(window: Window): Promise<void> {
  await window.shows(/❯ \* Begin this task/)
  window.press('Right')
  await window.shows(/no\s*$/m)
  await sleep(300)
  window.press('Enter')
  await window.shows(/Begin this task: yes/)
  for (let tries = 0; tries < 8 && /requests your input/.test(window.screen()); tries += 1) {
    window.press(/❯ Accept/.test(window.screen()) ? 'Enter' : 'Down')
    await sleep(700)
  }
}
