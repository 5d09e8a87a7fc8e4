// Takes pictures of the dashboard with a real server and browser. `docs/internals/testing.md` says when to run it.
//
//   npm run screenshots                the pictures of the documentation, into docs/pictures
//   npm run screenshots -- FOLDER      also every page in every state, size and theme, into FOLDER
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { prepare, ROOT } from './prepare.mjs'

const [folder] = process.argv.slice(2)
prepare()
const words = ['run', 'test/dashboard/pictures/every-page.test.ts']
if (folder === undefined) words.push('--testNamePattern', 'the pictures of the documentation')
const child = spawn(process.execPath, [join(ROOT, 'node_modules/vitest/vitest.mjs'), ...words], {
  cwd: ROOT,
  stdio: 'inherit',
  env: {
    ...process.env,
    PHASELOCK_DEPTH: 'full',
    PHASELOCK_DOC_PICTURES: join(ROOT, 'docs/pictures'),
    ...(folder === undefined ? {} : { PHASELOCK_PICTURES: resolve(folder) }),
  },
})
const [code] = await once(child, 'close')
process.exitCode = code ?? 1
