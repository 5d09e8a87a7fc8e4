// Lists for `npm pack`, which reads them as `.npmignore`: a folder of built files may still hold some of earlier builds.
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './prepare.mjs'

/** Of a folder, only these files are packed. */
export function listPacked(folder, paths) {
  writeFileSync(join(folder, '.npmignore'), ['*', '!*/', ...paths.map((path) => `!/${path}`), ''].join('\n'))
}

/** Of the built client for TypeScript, only what its source makes. */
export function listPackedSdk() {
  const names = readdirSync(join(ROOT, 'sdk/typescript/src')).map((name) => name.replace(/\.ts$/, ''))
  listPacked(
    join(ROOT, 'sdk/typescript/dist'),
    names.flatMap((name) => [`${name}.js`, `${name}.d.ts`]),
  )
}
