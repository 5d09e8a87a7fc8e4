import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sha256Hex } from '../../src/base/sha256.js'
import type { Confinement } from '../../src/confinement/confinement.js'
import { openConfinement } from '../../src/confinement/open-confinement.js'
import { runCommand } from '../../src/confinement/run-command.js'
import { toCompileLine } from '../../src/confinement/view/go-build-cache.js'
import { GO_CACHE, GoCache } from '../../src/confinement/view/go-cache.js'
import { HAS_GO } from '../forgery/go-project.js'

const COMPILE_MS_MAX = 900_000
const dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-go-')))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const cacheHome = join(dir, 'cache-home')
const environment = { ...process.env, XDG_CACHE_HOME: cacheHome, GOFLAGS: '' }

describe('what is compiled for the tests of a Go project', () => {
  it.each([
    ...['make test', 'go test ./... && ./deploy', 'go test -exec ./mine ./...', 'go test -toolexec=./mine ./...'],
    ...['go test -vettool ./mine ./...', 'go test $(./mine)', 'go vet ./...', 'go test -overlay=o.json ./...'],
  ])('[REQ-MATRIX-3] of %s nothing is taken over', (command) => {
    expect(toCompileLine(command)).toBe('go test -exec /bin/true ./...')
  })

  it('[REQ-MATRIX-3] flags of a plain go test are kept', () => {
    expect(toCompileLine('go test -json -race -tags=integration ./a/... ./b')).toBe(
      'go test -exec /bin/true -json -race -tags=integration ./a/... ./b',
    )
  })

  it.runIf(HAS_GO)(
    '[REQ-MATRIX-3] holds entries of the cache alone, and code of the project has not run',
    async () => {
      const tree = join(dir, 'tree')
      const stateDir = join(dir, 'state')
      for (const folder of [tree, stateDir]) mkdirSync(folder)
      writeFileSync(join(tree, 'go.mod'), 'module example.org/one\n\ngo 1.20\n')
      writeFileSync(join(tree, 'one.go'), 'package one\n\nfunc One() int { return 1 }\n')
      writeFileSync(
        join(tree, 'one_test.go'),
        `package one

import (
	"os"
	"testing"
)

func init() {
	os.MkdirAll(os.Getenv("GOCACHE")+"/ff", 0o755)
	os.WriteFile(os.Getenv("GOCACHE")+"/ff/${'f'.repeat(64)}-d", []byte("planted"), 0o644)
}

func TestOne(t *testing.T) {
	if One() != 1 {
		t.Fatal("not one")
	}
}
`,
      )
      const cache = new GoCache(join(stateDir, GO_CACHE), environment)
      const confinement = await openConfinement({ stateDir, only: null })
      try {
        const job = { tree, hidden: [], signal: new AbortController().signal }
        await cache.compileProject({ confinement, job, env: {}, command: 'go test ./...' })
        const [library, project, ...more] = cache.findSeeds(tree)
        expect(library).toContain(GO_CACHE)
        expect(more).toEqual([])
        const names = readdirSync(String(project), { recursive: true, encoding: 'utf8' }).filter((name) =>
          name.includes('/'),
        )
        expect(names.length).toBeGreaterThan(0)
        for (const name of names) expect(name).toMatch(/^[0-9a-f]{2}\/[0-9a-f]{64}-[ad]$/)
        expect(names.filter((name) => name.includes('f'.repeat(64)))).toEqual([])
      } finally {
        await confinement.close()
      }
    },
    COMPILE_MS_MAX,
  )
})

describe.runIf(HAS_GO)('the compiled standard library of Go', () => {
  let sandbox: Confinement
  const shared = join(cacheHome, 'phaselock', GO_CACHE)
  const openState = (name: string) => {
    const stateDir = join(dir, name)
    mkdirSync(stateDir, { recursive: true })
    return join(stateDir, GO_CACHE)
  }
  beforeAll(async () => {
    sandbox = await openConfinement({ stateDir: dirname(openState('sandbox')), only: null })
  })
  afterAll(() => sandbox.close())
  // A server that cannot compile: it has only what it finds.
  const idle = { provider: 'bubblewrap', start: () => Promise.reject(new Error('compiled again')) } as const
  const hashAll = (folder: string) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(folder, name)).isFile())
      .map((name) => `${name} ${statSync(join(folder, name)).mode} ${sha256Hex(readFileSync(join(folder, name)))}`)
      .toSorted()

  it(
    '[REQ-CACHE-4] is compiled once for all state directories of the user, for each set of flags',
    async () => {
      const first = await new GoCache(openState('one'), environment).make(sandbox)
      expect(first).toContain(shared)
      expect(await new GoCache(openState('two'), environment).make(idle)).toBe(first)
      const others = [{ GOFLAGS: '-trimpath' }, { GOFLAGS: '-tags=netgo' }, { GOTOOLCHAIN: 'go1.1' }]
      for (const other of others)
        expect(await new GoCache(openState('two'), { ...environment, ...other }).make(idle)).toBe(null)
    },
    COMPILE_MS_MAX,
  )

  it(
    '[REQ-CACHE-5] no command changes it, by its path, GOCACHE, GOFLAGS, a link or its own cache folder',
    async () => {
      const cache = new GoCache(openState('one'), environment)
      const library = String(await cache.make(sandbox))
      const tree = join(dir, 'attacked')
      mkdirSync(tree, { recursive: true })
      writeFileSync(join(tree, 'go.mod'), 'module example.org/one\n\ngo 1.20\n')
      writeFileSync(
        join(tree, 'one_test.go'),
        'package one\n\nimport (\n\t_ "fmt"\n\t"testing"\n)\n\nfunc TestOne(t *testing.T) {}\n',
      )
      writeFileSync(join(tree, 'mine'), `#!/bin/bash\necho planted > "${library}/go-build/00/planted"\nexec "$@"\n`, {
        mode: 0o755,
      })
      const before = hashAll(library)
      expect(before.length).toBeGreaterThan(100)
      const seeds = cache.findSeeds(tree)
      expect(seeds).toEqual([join(library, 'go-build')])
      const entry = `$(find ${library} -name '*-d' | head -1)`
      const attacks = [
        `echo planted > ${library}/go-build/planted`,
        `echo planted > ${entry}`,
        `chmod -R u+w ${library}; rm -rf ${library}/go-build/*`,
        `mv ${library} ${library}.away; mkdir -p ${library}/go-build/00`,
        `GOCACHE=${library}/go-build go vet .; GOCACHE=${library}/go-build go test -run none .`,
        `GOCACHE=${library}/go-build GOFLAGS=-toolexec=$PWD/mine go test -run none .`,
        `ln -s ${library}/go-build link; echo planted > link/planted; for f in link/0*/*-d; do echo planted > $f; done`,
        `mkdir -p ~/.cache; ln -sfn ${library}/go-build ~/.cache/go-build; go test -run none .; go clean -cache`,
        `mkdir -p ${shared} && mkdir ${shared}/0123456789abcdef`,
      ]
      const attempt = async (line: string) => {
        const run = await runCommand(sandbox, {
          ...{ tree, argv: ['bash', '-c', line], cwd: '.', env: {}, network: false, writes: 'keep', git: 'read' },
          ...{ hidden: [], signal: new AbortController().signal, timeoutMs: 120_000, shown: seeds },
          cache: { layer: null, seeds: [library], keep: null },
        })
        await run.changes.discard()
        return run.exitCode
      }
      // An honest command reads it.
      expect(await attempt(`test -r "${entry}" && go test -run none .`)).toBe(0)
      for (const attack of attacks) await attempt(attack)
      expect(hashAll(library)).toEqual(before)
      expect(readdirSync(shared)).toEqual([basename(library)])
    },
    COMPILE_MS_MAX,
  )

  it('[REQ-CACHE-5] a work tree that has it inside does not get it', async () => {
    const cache = new GoCache(openState('one'), environment)
    await cache.make(sandbox)
    expect(cache.findSeeds(openState('one').replace(GO_CACHE, ''))).toHaveLength(1)
    expect(cache.findSeeds(dir)).toEqual([])
  })

  it('[REQ-CACHE-5] is not taken from a folder that is a link or that others can write', async () => {
    const library = String(await new GoCache(openState('one'), environment).make(idle))
    for (const name of ['linked', 'open']) mkdirSync(join(dir, name, 'phaselock'), { recursive: true, mode: 0o700 })
    symlinkSync(shared, join(dir, 'linked', 'phaselock', GO_CACHE))
    const open = join(dir, 'open', 'phaselock', GO_CACHE)
    mkdirSync(open)
    cpSync(library, join(open, basename(library)), { recursive: true })
    chmodSync(open, 0o770)
    for (const name of ['linked', 'open']) {
      const cache = new GoCache(openState('two'), { ...environment, XDG_CACHE_HOME: join(dir, name) })
      expect(cache.findReadyFolder()).toBe(null)
    }
    chmodSync(open, 0o700)
    const own = new GoCache(openState('two'), { ...environment, XDG_CACHE_HOME: join(dir, 'open') })
    expect(own.findReadyFolder()).toContain(open)
  })

  it('[REQ-CACHE-5] is not compiled for a server without a sandbox', async () => {
    const cache = new GoCache(openState('none'), { ...environment, XDG_CACHE_HOME: join(dir, 'none') })
    expect(await cache.make({ ...idle, provider: 'none' })).toBe(null)
  })

  it('[REQ-CACHE-6] a compilation ends when its server stops, and leaves nothing', async () => {
    const home = join(dir, 'stopped')
    const cache = new GoCache(openState('stopped'), { ...environment, XDG_CACHE_HOME: home })
    let isStarted = (): void => undefined
    const started = new Promise<void>((resolve) => {
      isStarted = resolve
    })
    const watched: typeof sandbox.start = async (job) => {
      const command = await sandbox.start(job)
      isStarted()
      return command
    }
    const making = cache.make({ provider: sandbox.provider, start: watched })
    await started
    await cache.close()
    expect(await making).toBe(null)
    expect(readdirSync(join(home, 'phaselock', GO_CACHE))).toEqual([])
    expect(await cache.make(sandbox)).toBe(null)
  })
})
