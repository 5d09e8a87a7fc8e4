import { findTests } from '../../inverter/javascript/tests.js'
import { mayImportRunner, parseScript } from './runner-imports.js'

/** Names of the tests in a file of JavaScript or TypeScript as they are written: `adds ${left}` or `adds %s` for a computed one. */
export async function readTestNames(path: string, text: string): Promise<readonly string[]> {
  if (!mayImportRunner(path)) return []
  const parsed = await parseScript(path, text)
  return typeof parsed === 'string' ? [] : findTests(parsed.root).map(({ name }) => name)
}

/** Whether a file may compute names of tests, by words alone: only then its names have to be read. */
export function mayComputeNames(path: string, text: string): boolean {
  return mayImportRunner(path) && COMPUTED_CALL.test(text)
}

const COMPUTED_CALL =
  /\b(?:it|test|specify|tape|tap|t|\w{1,60}[tT]est)(?:\.\w{1,20}){0,2}\(\s{0,20}(?:[A-Za-z_$(]|`[^`]{0,400}\$\{|'[^'\n]{0,400}'\s{0,20}\+|"[^"\n]{0,400}"\s{0,20}\+)/
