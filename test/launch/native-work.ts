import type { JsonObject } from '../../src/core/json.js'
import { implementation, PLAN, testFiles } from '../e2e/walker.js'
import type { Script } from '../real-agents/model.js'
import type { Call } from '../real-agents/talk.js'
import { CODE, CODE_TEXT, call, go, own, TEST, TEST_TEXT } from '../real-agents/work.js'
import type { Window } from './terminal.js'

export const PASSPHRASE = 'four words and a comma'
export const SNEAKY = `printf 'export const sum = () => 12' > ${CODE}`

/** The own tools of Claude Code, in a work tree. */
export const bash = (command: string): Call => own('Bash', { command, description: 'does something' })
export const write = (tree: string, path: string, content: string): Call =>
  own('Write', { file_path: `${tree}/${path}`, content })

const REVIEW: JsonObject = { review_report: { reviews: { peer: { status: 'completed' } }, blocking_issues: [] } }
const SUMMARY: JsonObject = { completion_summary: { summary: 'The sum is there', files_changed: [CODE, TEST] } }
const GO_TDD = go('TDD', { plan_document: PLAN })

/** All phases with Claude Code's own tools, and two mistakes on the way that Phaselock finds. */
export const nativeCalls = (tree: string): readonly Call[] => [
  own('Read', { file_path: `${tree}/src/price.js` }),
  write(tree, CODE, CODE_TEXT),
  GO_TDD,
  write(tree, TEST, TEST_TEXT),
  bash(SNEAKY),
  bash(`rm ${CODE}`),
  bash('npm test'),
  go('IMPL', testFiles(TEST)),
  write(tree, CODE, 'export const sum = () => 12\n'),
  own('Edit', {
    ...{ file_path: `${tree}/${CODE}`, old_string: 'export const sum = () => 12\n', new_string: CODE_TEXT },
  }),
  go('REVIEW', implementation(CODE)),
  call('git_diff', {}),
  go('COMPLETE', REVIEW),
  call('git_commit', { message: 'Sum up prices' }),
  go('COMPLETE', SUMMARY),
]

/** Makes these calls one after another, and nothing more; one that has to wait for a person is made again. */
export const follow =
  (calls: () => readonly Call[]): Script =>
  ({ step, results }) => {
    const waited = results.filter(({ text }) => text.includes('make the same call again')).length
    return calls()[step - waited] ?? null
  }

/** Chooses a passphrase, as a person does who begins such a session for the first time. */
export async function choosePassphrase(window: Window): Promise<void> {
  await window.shows(/New passphrase/)
  await window.enter(PASSPHRASE)
  await window.shows(/Again:/)
  await window.enter(PASSPHRASE)
}
