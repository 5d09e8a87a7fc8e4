// `npm start`: installs and builds what is missing, then becomes the server. Plain Node, because nothing is installed yet.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { prepare, say } from './prepare.mjs'

const given = process.argv.slice(2)
const SAMPLE = {
  'package.json': `${JSON.stringify(
    {
      name: 'phaselock-sample',
      version: '1.0.0',
      private: true,
      type: 'module',
      scripts: { test: 'node --test tests/*.test.js' },
    },
    null,
    2,
  )}\n`,
  'src/greet.js': "export function greet(name) {\n  return 'Hello, ' + name + '!'\n}\n",
  'tests/greet.test.js': [
    "import assert from 'node:assert/strict'",
    "import { test } from 'node:test'",
    "import { greet } from '../src/greet.js'",
    '',
    "test('a greeting carries the name', () => {",
    "  assert.equal(greet('Ada'), 'Hello, Ada!')",
    '})',
    '',
  ].join('\n'),
  'README.md': [
    '# Sample project',
    '',
    'A work tree to try Phaselock on. Agents change files here; `npm test` runs the tests.',
    'Delete the folder whenever you like: `npm start` makes it anew.',
    '',
  ].join('\n'),
}

prepare()
const isOwn = given.some((one) => one === '--workspace' || one.startsWith('--workspace='))
const place = isOwn ? [] : ['--workspace', sample(), '--contract', 'tdd']
// The server takes this process over: a signal, an end of the terminal or `kill -9` meets it and nobody in between.
const { main } = await import('../dist/program/main.js')
await main(['serve', '--port', '8000', ...place, ...given])

function sample() {
  const home = process.env.XDG_DATA_HOME ?? ''
  const base = isAbsolute(home) ? home : join(process.env.HOME ?? homedir(), '.local', 'share')
  const dir = join(base, 'phaselock', 'sample')
  if (existsSync(dir)) return dir
  say(`Making a sample project in ${dir} …`)
  for (const [name, text] of Object.entries(SAMPLE)) {
    mkdirSync(join(dir, name, '..'), { recursive: true })
    writeFileSync(join(dir, name), text)
  }
  const git = (...args) => spawnSync('git', args, { cwd: dir, stdio: 'ignore' }).status === 0
  if (git('init', '--quiet') && git('add', '.')) {
    const who = ['-c', 'user.name=Phaselock', '-c', 'user.email=phaselock@localhost', '-c', 'commit.gpgsign=false']
    git(...who, 'commit', '--quiet', '-m', 'Start the sample project')
  }
  return dir
}
