import { readFileSync } from 'node:fs'
import { PACKAGE_ROOT } from '../base/package-root.js'

/** The version of this program from its package. */
export function readProgramVersion(): string {
  const text = readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8')
  return (JSON.parse(text) as { readonly version: string }).version
}
