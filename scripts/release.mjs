// Checks that a release is consistent, makes its files and says what to push: `npm run release`.
// It publishes nothing itself.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT, say } from './prepare.mjs'

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'release' },
    'skip-tests': { type: 'boolean', default: false },
    'allow-dirty': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) {
  console.log(`Usage: npm run release -- [options]

Checks versions, changelog and work tree, runs npm test, and packs the npm
packages, the Python wheel and the sdist. Nothing is published.

Options:
  --out <dir>      folder for the files (default: release)
  --skip-tests     do not run npm test
  --allow-dirty    do not ask for a clean work tree and a new tag`)
  process.exit(0)
}

const out = resolve(values.out)
const version = readJson('package.json').version
const problems = findProblems()
if (problems.length > 0) fail(`This is not ready for a release:\n${problems.map((text) => `  - ${text}`).join('\n')}`)

if (!values['skip-tests']) run('npm', ['test'])
run('npm', ['run', 'build'])
mkdirSync(out, { recursive: true })
say('Packing …')
for (const folder of ['.', 'sdk/typescript'])
  run('npm', ['pack', '--silent', '--pack-destination', out], join(ROOT, folder))
run('python3', ['-m', 'build', '--outdir', out, join(ROOT, 'python')])

const files = readdirSync(out)
  .filter((name) => name.includes(version))
  .toSorted()
console.log(`\nPhaselock ${version}, in ${out}:`)
for (const name of files) console.log(`  ${hash(join(out, name))}  ${name}`)
console.log(`
To publish:
  git tag v${version} && git push origin main v${version}
  npm publish ${join(out, `phaselock-${version}.tgz`)}
  npm publish ${join(out, `orchestrator-agent-sdk-${version}.tgz`)}
  python3 -m twine upload ${join(out, `orchestrator_agent_sdk-${version}*`)}`)

function findProblems() {
  const python = /^version = "(.+)"$/m.exec(readFileSync(join(ROOT, 'python/pyproject.toml'), 'utf8'))?.[1]
  const others = {
    'claude-plugin/.claude-plugin/plugin.json': readJson('claude-plugin/.claude-plugin/plugin.json').version,
    'package-lock.json': readJson('package-lock.json').version,
    'sdk/typescript/package.json': readJson('sdk/typescript/package.json').version,
    'python/pyproject.toml': python,
  }
  const found = Object.entries(others).flatMap(([file, other]) =>
    other === version ? [] : [`${file} says ${other}, package.json says ${version}`],
  )
  const [, newest] = /^## \[?(\d+\.\d+\.\d+)/m.exec(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')) ?? []
  if (newest !== version) found.push(`the newest version in CHANGELOG.md is ${newest ?? 'missing'}`)
  if (spawnSync('python3', ['-c', 'import build']).status !== 0)
    found.push('the Python package `build` is missing: python3 -m pip install build')
  if (values['allow-dirty']) return found
  if (git('status', '--porcelain') !== '') found.push('the work tree has changes that are not committed')
  if (git('tag', '--list', `v${version}`) !== '') found.push(`the tag v${version} exists already`)
  return found
}

function readJson(path) {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
}

function git(...args) {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
}

function run(program, args, cwd = ROOT) {
  const { status } = spawnSync(program, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) fail(`${program} ${args.join(' ')} ended with ${status}`)
}

function hash(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

function fail(text) {
  console.error(text)
  process.exit(1)
}
