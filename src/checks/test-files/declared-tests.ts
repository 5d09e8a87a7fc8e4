import { posix } from 'node:path'
import type { ObservedRun, ObservedTest } from '../../core/evidence/observed-run.js'
import type { FoundTest } from '../../inverter/types.js'

/** A test file of Go or Rust, and the tests that its text declares. */
interface DeclaringFile {
  readonly path: string
  readonly text: string
  readonly tests: readonly Pick<FoundTest, 'name' | 'line'>[]
}

/** Commands that run every test of the packages or targets that they name. Scripts may choose among them. */
const GO_RUNS_ALL = /^go test(?! .*-(?:test\.)?(?:run|skip|list|bench|c|exec)\b)[\w@%+=:,./ -]*$/
const CARGO_RUNS_ALL = /^cargo test(?: --?\w[\w=.,-]*)*$/

/** Whether these files can be compared with the run: no compiler condition applies to them. */
export function canBeCompared(command: string, { path, text }: Pick<DeclaringFile, 'path' | 'text'>): boolean {
  const line = command.trim()
  if (GO_RUNS_ALL.test(line))
    return path.endsWith('_test.go') && !/^\/\/(?:go:build|\s*\+build)\b/m.test(text) && !FOR_SYSTEM.test(path)
  return CARGO_RUNS_ALL.test(line) && /^tests\/[^/]+\.rs$/.test(path) && !/\bcfg(?:_attr)?\b/.test(text)
}

const FOR_SYSTEM =
  /_(?:aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|solaris|wasip1|windows|386|amd64|arm|arm64|loong64|mips\w*|ppc64\w*|riscv64|s390x|wasm)_test\.go$/

/**
 * The first declared test that the report does not have, although it has others of the same package or program. Test
 * programs of Go and Rust write their own report, so a report printed by code under test has to name at least every
 * test.
 */
export function findFirstMissing(run: ObservedRun, files: readonly DeclaringFile[]): string | null {
  if (run.counts === null || !run.isComplete) return null
  for (const file of files) {
    const beside = run.tests.filter((test) => isBeside(test, file.path))
    const names = new Set(beside.map(({ id }) => parseName(id)))
    const missing = beside.length === 0 ? undefined : filterDeclared(file).find(({ name }) => !names.has(name))
    if (missing !== undefined) return `${file.path}:${missing.line} ${missing.name}`
  }
  return null
}

function filterDeclared({ path, text, tests }: DeclaringFile): DeclaringFile['tests'] {
  if (path.endsWith('.rs')) return tests
  const lines = text.split('\n')
  // Methods are run by suites, under other names.
  return tests.filter(({ name, line }) => /^Test(?!\p{Ll})/u.test(name) && lines[line - 1]?.startsWith(`func ${name}(`))
}

function parseName(id: string): string {
  return id.replace(/^.* > /, '').replace(/ #\d+$/, '')
}

function isBeside({ id, file }: ObservedTest, path: string): boolean {
  if (path.endsWith('.rs')) return file === path
  const folder = posix.dirname(path)
  const name = id.replace(/ > .*$/, '')
  return folder === '.' || name === folder || name.endsWith(`/${folder}`)
}
