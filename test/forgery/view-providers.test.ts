import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { observe } from '../../src/checks/observed-runs/observe.js'
import { type Composition, type Confinement, PROVIDERS, type ProviderName } from '../../src/confinement/confinement.js'
import { openConfinement } from '../../src/confinement/open-confinement.js'
import { runCommand } from '../../src/confinement/run-command.js'
import { describeProviders } from '../confinement/providers.js'
import { sample } from '../depth.js'

const FILES = {
  'tests/unit/add.test.js': 'the test\n',
  'tests/unit/data.json': '{}\n',
  'src/add.js': 'the code\n',
  'node_modules/chai/index.js': 'chai\n',
  'node_modules/added/index.js': 'added by the agent\n',
  'dist/old.js': 'built before\n',
  'dist/new.js': 'built since\n',
}
const PINNED = ['tests/unit/add.test.js', 'tests/unit/data.json', 'package.json', 'not/there/setup.js']

const dir = realpathSync(mkdtempSync('/var/tmp/phaselock-view-'))
const open = new Map<ProviderName, Promise<Confinement>>()
let count = 0
afterAll(async () => {
  for (const one of open.values()) await (await one).close()
  rmSync(dir, { recursive: true, force: true })
})

async function run(provider: ProviderName, line: string, more: Partial<Composition> = {}) {
  const { confinement, tree, composition } = await prepare(provider, more)
  const ran = await runCommand(confinement, {
    ...{ tree, argv: ['bash', '-c', line], cwd: '.', env: {}, network: false, writes: 'discard', git: 'read' },
    ...{ hidden: [], signal: new AbortController().signal, timeoutMs: 30_000, composition },
  })
  return { ...ran, tree }
}

async function prepare(provider: ProviderName, more: Partial<Composition> = {}) {
  const only = open.get(provider) ?? openConfinement({ stateDir: join(dir, `state-${provider}`), only: provider })
  open.set(provider, only)
  const confinement = await only
  expect(confinement.provider).toBe(provider)
  count += 1
  const tree = join(dir, `tree-${count}`)
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    writeFileSync(join(tree, path), text)
  }
  const composition: Composition = {
    put: [],
    leftOut: [],
    pinned: PINNED,
    isGuarded: (path) => path.endsWith('.test.js') || path.endsWith('conftest.py'),
    ...more,
  }
  return { confinement, tree, composition }
}

describeProviders(
  PROVIDERS,
  (name) => `an observed command with ${name}`,
  (provider) => {
    it.each([
      ['tests', 'node --test'],
      ['lint', 'true'],
    ])('[REQ-VIEW-1] %s that write a test and put it back are void, and name it', async (name, command) => {
      const { confinement, tree, composition } = await prepare(provider)
      const run = `cp -p tests/unit/add.test.js /tmp/kept-${process.pid}; echo > tests/unit/add.test.js; cp -p /tmp/kept-${process.pid} tests/unit/add.test.js; ${command}`
      const place = { confinement, tree, hidden: [], signal: new AbortController().signal, redact: String }
      const observed = await observe(
        { ...place, view: { composition, leftOut: [] } },
        name,
        { run, format: 'auto', report: null, timeoutSeconds: 60, env: {} },
        { treeHash: '' },
      )
      expect(observed).toMatchObject({ isVoid: true, counts: null, coverage: null })
      expect(observed.exitCode).not.toBe(0)
      expect(observed.problem).toMatch(/void: tests\/unit\/add\.test\.js/)
    })
  },
)

const SANDBOXES = PROVIDERS.filter((name) => name !== 'none')

const WRITES: readonly (readonly [what: string, line: string, written: string])[] = [
  ['is written', 'echo x >> tests/unit/add.test.js', 'tests/unit/add.test.js'],
  [
    'is written and put back with its times',
    'cp -p tests/unit/add.test.js /tmp/k; echo x > tests/unit/add.test.js; cat /tmp/k > tests/unit/add.test.js; touch -r /tmp/k tests/unit/add.test.js',
    'tests/unit/add.test.js',
  ],
  [
    'is moved away and back',
    'mv tests/unit/data.json tests/unit/k; echo 1 > tests/unit/data.json; mv -f tests/unit/k tests/unit/data.json',
    'tests/unit/data.json',
  ],
  ['is deleted', 'rm tests/unit/data.json', 'tests/unit/data.json'],
  ['is made', 'echo {} > package.json', 'package.json'],
  ['stands in another folder', 'mkdir -p src/more; echo > src/more/late.test.js', 'src/more/late.test.js'],
  ['configures the runner', 'echo > tests/conftest.py', 'tests/conftest.py'],
]

describeProviders(
  PROVIDERS,
  (name) => `with ${name}`,
  (provider) => {
    it.each(sample(WRITES, 3))('[REQ-VIEW-1] a pinned or guarded file that %s is named', async (_, line, written) => {
      expect((await run(provider, line)).written).toEqual([written])
    })

    it('[REQ-VIEW-1] reading, caches, reports and sources name nothing', async () => {
      const line =
        'cat tests/unit/*; mkdir -p tests/unit/__pycache__ coverage; echo > tests/unit/__pycache__/x.pyc; echo > coverage/lcov.info; echo > src/add.js; echo > tests/unit/out.txt; rm tests/unit/out.txt'
      expect((await run(provider, line)).written).toEqual([])
    })
  },
)

describeProviders(
  SANDBOXES,
  (name) => `with ${name}`,
  (provider) => {
    it('[REQ-VIEW-1] a folder of pinned files that is moved away and back is named, or cannot be moved', async () => {
      const ran = await run(
        provider,
        'mv tests t && mkdir -p tests/unit && echo > tests/unit/add.test.js && rm -r tests && mv t tests',
      )
      expect(ran.exitCode !== 0 || ran.written.length > 0).toBe(true)
    })

    it('[REQ-VIEW-2] the view holds what is put into it and lacks what is left out, and the tree stays as it is', async () => {
      const ran = await run(
        provider,
        'cat tests/unit/add.test.js; ls -d tests/new tests/unit node_modules/* dist/*; stat -c %a tests/unit/add.test.js; readlink tests/link',
        {
          put: [
            { path: 'tests/unit/add.test.js', type: 'file', content: Buffer.from('from the pin\n'), mode: 0o755 },
            { path: 'tests/new/gone.json', type: 'file', content: Buffer.from('1'), mode: 0o644 },
            { path: 'tests/link', type: 'link', target: 'unit/data.json' },
          ],
          leftOut: ['node_modules/added', 'dist/new.js', 'not/there'],
        },
      )
      expect(ran.stdout.split('\n').filter((line) => line !== '')).toEqual([
        ...['from the pin', 'dist/old.js', 'node_modules/chai', 'tests/new', 'tests/unit', '755', 'unit/data.json'],
      ])
      expect(ran.written).toEqual([])
      for (const [path, text] of Object.entries(FILES)) expect(readFileSync(join(ran.tree, path), 'utf8')).toBe(text)
    })

    it('[REQ-VIEW-2] what was left out and is made again by the run is named', async () => {
      const ran = await run(provider, 'echo > tests/late.test.js', { leftOut: ['tests/late.test.js'] })
      expect(ran.written).toEqual(['tests/late.test.js'])
    })
  },
)
