import { findTests } from '../../inverter/javascript/tests.js'
import { mayImportRunner, parseScript } from './runner-imports.js'

/** Names of the tests in a file of JavaScript or TypeScript as they are written: `adds ${left}` or `adds %s` for a computed one. */
export async function readTestNames(path: string, text: string): Promise<readonly string[]> {
  if (!mayImportRunner(path)) return []
  const parsed = await parseScript(path, text)
  return typeof parsed === 'string' ? [] : findTests(parsed.root).map(({ name }) => name)
}
