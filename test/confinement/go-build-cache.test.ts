import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openConfinement } from '../../src/confinement/open-confinement.js'
import { toCompileLine } from '../../src/confinement/view/go-build-cache.js'
import { GO_CACHE, GoCache } from '../../src/confinement/view/go-cache.js'
import { HAS_GO } from '../forgery/go-project.js'

const COMPILE_MS_MAX = 600_000
const dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-go-')))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

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
      const cache = new GoCache(join(stateDir, GO_CACHE), process.env)
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
