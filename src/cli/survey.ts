import { existsSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

/** What a repository tells about itself. */
export interface Survey {
  readonly project: string
  readonly language: string
  /** The file that gave it away. */
  readonly because: string
  readonly testCommand: string | null
  readonly hasGit: boolean
}

type Kind = readonly [file: string, language: string, testCommand: string | null]

const KINDS: readonly Kind[] = [
  ['Cargo.toml', 'Rust', 'cargo test'],
  ['go.mod', 'Go', 'go test ./...'],
  ['pyproject.toml', 'Python', 'python -m pytest'],
  ['setup.py', 'Python', 'python -m pytest'],
  ['requirements.txt', 'Python', 'python -m pytest'],
  ['pom.xml', 'Java', 'mvn test'],
  ['build.gradle', 'Java', './gradlew test'],
  ['build.gradle.kts', 'Kotlin', './gradlew test'],
  ['Gemfile', 'Ruby', 'bundle exec rake test'],
  ['mix.exs', 'Elixir', 'mix test'],
  ['composer.json', 'PHP', 'composer test'],
]

const RUNNERS: readonly (readonly [string, string])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun run'],
]

/** Looks at a folder without running anything in it. */
export function survey(folder: string): Survey {
  const has = (file: string): boolean => existsSync(join(folder, file))
  const common = { project: basename(resolve(folder)), hasGit: has('.git') }
  if (has('package.json')) {
    const language = has('tsconfig.json') ? 'TypeScript' : 'JavaScript'
    return { ...common, language, because: 'package.json', testCommand: nodeTests(folder, has) }
  }
  const kind = KINDS.find(([file]) => has(file))
  if (kind !== undefined) return { ...common, language: kind[1], because: kind[0], testCommand: kind[2] }
  if (has('Makefile') && /^test:/m.test(readFileSync(join(folder, 'Makefile'), 'utf8')))
    return { ...common, language: 'unknown', because: 'Makefile', testCommand: 'make test' }
  return { ...common, language: 'unknown', because: '', testCommand: null }
}

function nodeTests(folder: string, has: (file: string) => boolean): string | null {
  try {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { scripts?: { test?: unknown } }
    const script = manifest.scripts?.test
    // What `npm init` writes is no test command.
    if (typeof script !== 'string' || script.includes('no test specified')) return null
  } catch {
    // A manifest that is not JSON names no tests.
    return null
  }
  const runner = RUNNERS.find(([lock]) => has(lock))?.[1] ?? 'npm'
  return `${runner} test`
}
