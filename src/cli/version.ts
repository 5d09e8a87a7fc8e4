import { readFileSync } from 'node:fs'
import { PACKAGE_ROOT } from '../package/package-root.js'

/** The version of this program, as its package says. */
export function readProgramVersion(): string {
  const text = readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8')
  return (JSON.parse(text) as { readonly version: string }).version
}
