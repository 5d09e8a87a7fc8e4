import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { blocksOf, placeOf, ROOT } from './blocks.js'
import { BLOCKS_ELSEWHERE, BY_HAND, ELSEWHERE, isRunHere, listCommands, listUnmarked } from './guide-lines.js'

/** What a page takes for granted, and names in it that stand for the reader's own. */
interface Scene {
  /** Commands before each block. */
  readonly before?: string
  readonly names?: Readonly<Record<string, string>>
}

const UP = 'phaselock up >/dev/null'
const OWN_PACKAGE = { '$(npm root -g)/phaselock': ROOT.replace(/\/$/, '') }
const REMOTE = { 'https://phaselock.example.org': '$URL', 'plop_…': '$(cat "$STATE/operator.token")' }
const SCENES: Readonly<Record<string, Scene>> = {
  'README.md': { before: 'rm -f agent_workflow.yaml', names: { 'cd YOUR-REPOSITORY': 'cd "$HOME/shop"' } },
  'docs/ci.md': { before: UP, names: REMOTE },
  'docs/container.md': { before: UP },
  'docs/documents.md': { before: 'rm -f agent_workflow.yaml' },
  'docs/examples.md': {
    before: `printf 'examples:\\n  - run: node add.js 20 22\\n    expect: { stdout: "42" }\\n' > ../held-out.yaml; ${UP}`,
  },
  'docs/copilot.md': { names: OWN_PACKAGE },
  'docs/cursor.md': { names: OWN_PACKAGE },
  'docs/hooks.md': { before: UP, names: OWN_PACKAGE },
  'docs/integrations.md': { before: 'true' },
  'docs/operate.md': {
    before: `mkdir -p ~/src; ln -sfn "$HOME/shop" ~/src/shop; printf 'key-4711-4712' > leaked.txt; ${UP}; phaselock task add "Use key-4711-4712" --id old-$RANDOM --json > task.json; phaselock task cancel "$(node -p 'require("./task.json").id')" --reason over >/dev/null`,
    names: {
      'bin/phaselock': 'phaselock',
      '--older-than 365': '--older-than 0',
      '/archive/phaselock/20261117T101500Z.archive': '$(ls -d "$HOME"/archive/*.archive | head -1)',
      '/archive/phaselock': '$HOME/archive',
    },
  },
  'docs/parallel.md': { before: `mkdir -p node_modules; ${UP}` },
  'docs/team.md': {
    before: `${UP}; openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 1 -subj /CN=localhost 2>/dev/null`,
    names: { ...REMOTE, '/srv/shop': '$HOME/shop', '0.0.0.0': '127.0.0.1' },
  },
  'docs/workflows.md': { before: 'rm -f agent_workflow.yaml' },
}

// Servers listen on a free port. One in the foreground is stopped once it is ready.
const SHELL = `
set -eo pipefail
phaselock() {
  case "$1" in
    # They ask on a terminal: answered with yes.
    init | erase | archive) command phaselock "$@" --yes;;
    up) shift; command phaselock up --port 0 "$@";;
    serve)
      shift; command phaselock serve --port 0 --state-dir "$HOME/served-$RANDOM" "$@" > served.log 2>&1 & local server=$!
      for _ in $(seq 600); do
        if grep -q 'Ctrl-C stops' served.log; then kill $server; wait $server; return 0; fi
        kill -0 $server 2>/dev/null || break
        sleep 0.2
      done
      cat served.log >&2; return 1;;
    *) command phaselock "$@";;
  esac
}
locate() {
  STATE=$(dirname "$(ls -t "$XDG_STATE_HOME"/phaselock/*/server.json 2>/dev/null | head -1)")
  URL=$(node -p 'require(process.argv[1]).url' "$STATE/server.json" 2>/dev/null || true)
}
cd "$HOME/shop"
`

const FILES = [
  'README.md',
  ...readdirSync(`${ROOT}docs`)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]
const homes: string[] = []

afterEach(async () => {
  for (const home of homes.splice(0)) {
    await run(home, 'phaselock down >/dev/null 2>&1 || true').catch(() => undefined)
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
})

/** A home with a small repository in it, which has a contract as `init` writes it. */
function makeHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'phaselock-guides-'))
  homes.push(home)
  const shop = join(home, 'shop')
  mkdirSync(join(shop, 'test'), { recursive: true })
  writeFileSync(
    join(shop, 'package.json'),
    JSON.stringify({ name: 'shop', type: 'module', scripts: { test: 'node --test' } }),
  )
  writeFileSync(join(shop, 'test/a.test.js'), "import { test } from 'node:test'\ntest('a', () => {})\n")
  const git = (...words: string[]): unknown => execFileSync('git', ['-C', shop, ...words])
  writeFileSync(join(shop, '.gitignore'), 'node_modules/\n')
  git('init', '-q')
  git('add', '.')
  git('config', 'user.name', 'a')
  git('config', 'user.email', 'a@example.org')
  git('commit', '-qm', 'first')
  return home
}

function run(home: string, script: string) {
  const env = { PATH: `${join(ROOT, 'bin')}:${process.env.PATH}`, HOME: home, XDG_STATE_HOME: join(home, '.state') }
  return new Promise<{ readonly code: number; readonly said: string }>((resolve) => {
    execFile('bash', ['-c', SHELL + script], { env, cwd: home }, (error, out, err) =>
      resolve({ code: error === null ? 0 : 1, said: `${out}${err}` }),
    )
  })
}

function replaceNames(text: string, names: Readonly<Record<string, string>> = {}): string {
  return Object.entries(names).reduce((all, [name, own]) => all.replaceAll(name, own), text)
}

describe('commands of the guides', () => {
  it('[REQ-DOCS-4] a line that is neither run here nor elsewhere is found', () => {
    expect(isRunHere('phaselock validate')).toBe(true)
    expect(isRunHere('phaselock claude "Add a health endpoint"')).toBe(false)
    expect(isRunHere('sudo sysctl --system')).toBe(false)
  })

  it.each(ELSEWHERE)('[REQ-DOCS-4] $test runs $line', ({ test, word, line }) => {
    const file = join(ROOT, `test/${test}.test.ts`)
    expect(existsSync(file), file).toBe(true)
    const text = readFileSync(file, 'utf8')
    const helpers = [...text.matchAll(/from '(\.[^']*)\.js'/g)]
      .map(([, path = '']) => join(dirname(file), `${path}.ts`))
      .filter((path) => existsSync(path))
    expect(
      [text, ...helpers.map((path) => readFileSync(path, 'utf8'))].some((one) => one.includes(word)),
      word,
    ).toBe(true)
    const commands = FILES.flatMap(listUnmarked).flatMap(listCommands)
    expect(commands.filter((command) => line.test(command))).not.toEqual([])
  })

  it.each(BLOCKS_ELSEWHERE)('[REQ-DOCS-4] $test runs the blocks with $line', ({ test, word, line }) => {
    expect(readFileSync(join(ROOT, `test/${test}.test.ts`), 'utf8')).toContain(word)
    expect(FILES.flatMap(blocksOf).some(({ text }) => line.test(text))).toBe(true)
  })

  it('[REQ-DOCS-4] what is tried by hand is in a guide', () => {
    const commands = FILES.flatMap(listUnmarked).flatMap(listCommands)
    for (const { line } of BY_HAND) expect(commands.some((command) => line.test(command))).toBe(true)
  })

  const pages = FILES.filter((file) => listUnmarked(file).some((block) => listCommands(block).some(isRunHere)))
  it.each(pages)('[REQ-DOCS-4] the lines of %s run as they are written', async (file) => {
    const home = makeHome()
    expect(await run(home, 'phaselock init --yes')).toMatchObject({ code: 0 })
    const { before = '', names } = SCENES[file] ?? {}
    for (const block of listUnmarked(file)) {
      const commands = listCommands(block).filter(isRunHere)
      if (commands.length === 0) continue
      const lines = commands.map((command) => replaceNames(command, names))
      const ended = await run(home, [before, 'locate', ...lines].join('\n'))
      expect(ended.code, `${placeOf(block)}: ${ended.said}`).toBe(0)
    }
  })
})
