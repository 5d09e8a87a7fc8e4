import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = new URL('../..', import.meta.url).pathname
const PACKAGE = join(ROOT, 'sdk/typescript')

/** The client for TypeScript as it is published; built when it is missing or older than its source. */
export function builtSdk(): string {
  const times = readdirSync(join(PACKAGE, 'src')).map((name) => statSync(join(PACKAGE, 'src', name)).mtimeMs)
  const built = statSync(join(PACKAGE, 'dist/index.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (built < Math.max(...times))
    execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', PACKAGE])
  return PACKAGE
}
