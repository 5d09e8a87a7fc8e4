import { posix } from 'node:path'

/** Runners that accept a list of files to run, and how. */
interface Runner {
  /** The words at the beginning of the command. */
  readonly words: RegExp
  /** Flags that take the next word as their value. */
  readonly valued: ReadonlySet<string>
  /** Words that are no flags stay: they do not name files. */
  readonly keepsOthers?: boolean
  /** The words for the files and for their tests, after the flags; null: these files cannot be named. */
  readonly select: (files: readonly string[], tests: readonly string[]) => readonly string[] | null
}

const NAMES_MAX = 100
const areNames = (tests: readonly string[], form: RegExp): boolean =>
  tests.length > 0 && tests.length <= NAMES_MAX && tests.every((test) => form.test(test))

const keepFiles = (files: readonly string[]): readonly string[] => files

const PYTHON = '(?:(?:uv|poetry|pdm|pipenv) run )?(?:\\.?venv/bin/)?python(?:3(?:\\.\\d+)?)?'

const RUNNERS: readonly Runner[] = [
  {
    words: /^node(?: --[\w=./:-]+)* --test(?= |$)/,
    valued: new Set(['--import', '--require', '-r', '--loader', '--test-reporter', '--test-name-pattern']),
    select: keepFiles,
  },
  {
    words: /^(?:npx )?vitest (?:run|--run)(?= |$)/,
    valued: new Set(['--config', '-c', '--reporter', '--project', '--environment', '--root', '-r']),
    select: keepFiles,
  },
  {
    words: /^(?:npx )?jest(?= |$)/,
    valued: new Set(['--config', '-c', '--projects', '--testPathPattern', '--testPathPatterns', '--reporters']),
    select: (files) => ['--runTestsByPath', ...files],
  },
  {
    words: /^(?:(?:npx )?(?:nyc|c8)(?: --?[\w-]+(?:=[\w.,/-]+)?)* )?(?:npx )?mocha(?= |$)/,
    valued: new Set(['--require', '-r', '--reporter', '-R', '--config', '--ui', '-u', '--timeout', '-t', '--import']),
    select: keepFiles,
  },
  {
    words: new RegExp(`^${PYTHON} -m unittest discover(?= |$)`),
    valued: new Set(['-s', '--start-directory', '-t', '--top-level-directory', '-p', '--pattern', '-k']),
    keepsOthers: true,
    // The last pattern counts. It is one, so all files must have the same name.
    select: (files, tests) => {
      const [name = '', ...more] = new Set(files.map((file) => posix.basename(file)))
      const names = areNames(tests, /^[\w.]+$/) ? tests.flatMap((test) => ['-k', test]) : []
      return more.length > 0 ? null : ['-p', name, ...names]
    },
  },
  {
    words: new RegExp(`^${PYTHON} -m unittest(?= |$)`),
    valued: new Set(['-k']),
    select: (files, tests) => (areNames(tests, /^[\w.]+$/) ? tests : files),
  },
  {
    words: new RegExp(`^(?:(?:uv|poetry|pdm|pipenv) run )?(?:${PYTHON} -m |\\.?venv/bin/)?pytest(?= |$)`),
    valued: new Set(['-p', '-k', '-m', '-c', '-o', '-n', '--rootdir', '--tb', '-W']),
    select: (files, tests) => (areNames(tests, /^[\w./-]+\.py::[\w:]+$/) ? tests : files),
  },
  {
    words: /^go test(?= |$)/,
    valued: new Set(['-run', '-tags', '-timeout', '-mod', '-p', '-count']),
    select: (files, tests) => [
      ...(tests.length === 0 ? [] : ['-run', `^(?:${tests.join('|')})$`]),
      ...new Set(files.map((file) => `./${posix.dirname(file)}`)),
    ],
  },
  {
    words: /^cargo test(?= |$)/,
    valued: new Set(['--features', '-F', '-p', '--package', '--profile', '--target', '-j']),
    select: (files) =>
      files.every((file) => /^tests\/[^/]+\.rs$/.test(file))
        ? files.flatMap((file) => ['--test', posix.basename(file, '.rs')])
        : null,
  },
]

// Characters that a shell does not read as part of a plain word.
const PLAIN = /^[\w@%+=:,./ -]+$/
const SCRIPT = /^(?:npm|pnpm|yarn)(?: run)? ([\w:-]+)(?: --silent| -s)?$/

/**
 * The command that runs only these files, or only `tests` of them where the runner knows their names; null if the runner
 * is unknown or cannot do that. `scripts` are those of package.json.
 */
export function narrowCommand(
  run: string,
  sources: readonly (string | { readonly path: string; readonly text: string })[],
  scripts: Readonly<Record<string, unknown>>,
  tests: readonly string[] = [],
): string | null {
  const line = run.trim()
  const files = sources.map((source) => (typeof source === 'string' ? source : source.path))
  if (files.length === 0 || !files.every((file) => PLAIN.test(file) && !file.startsWith('-'))) return null
  const [, name] = SCRIPT.exec(line) ?? []
  if (name === undefined) return narrowLine(line, files, /^go /.test(line) ? listGoTests(sources) : tests)
  const script = scripts[name === 't' ? 'test' : name]
  if (typeof script !== 'string') return null
  const runner = findRunner(script.trim())
  // Files that the script itself names cannot be removed.
  if (runner === undefined || splitArguments(script.trim(), runner).others.length > 0) return null
  const selected = runner.select(files, [])
  return selected === null ? null : `${line} -- ${selected.map(quoteWord).join(' ')}`
}

function narrowLine(line: string, files: readonly string[], tests: readonly string[]): string | null {
  const runner = findRunner(line)
  if (runner === undefined) return null
  const { flags, others } = splitArguments(line, runner)
  const isChosen = flags.some((flag) => /^--?(?:test\.)?(?:run|skip|bench|fuzz|list)\b/.test(flag))
  const selected = runner.select(files, isChosen ? [] : tests)
  if (selected === null) return null
  const start = runner.words.exec(line)?.[0] ?? ''
  const kept = runner.keepsOthers === true ? others : []
  return [start, ...flags, ...kept, ...selected.map(quoteWord)].join(' ')
}

/** The functions that Go runs as tests; none if a file has none, so that its whole package runs. */
function listGoTests(sources: Parameters<typeof narrowCommand>[1]): readonly string[] {
  const names = sources.map((source) =>
    typeof source === 'string' ? [] : [...source.text.matchAll(GO_TEST)].map(([, name = '']) => name),
  )
  return names.some((list) => list.length === 0) ? [] : [...new Set(names.flat())]
}

const GO_TEST = /^func ((?:Test|Fuzz|Example)\w{0,200})\(/gm

function findRunner(line: string): Runner | undefined {
  return PLAIN.test(line) && !/ --( |$)/.test(line) ? RUNNERS.find(({ words }) => words.test(line)) : undefined
}

function splitArguments(line: string, { words, valued }: Runner) {
  const flags: string[] = []
  const others: string[] = []
  const rest = line
    .slice((words.exec(line)?.[0] ?? '').length)
    .split(/ +/)
    .filter((word) => word !== '')
  for (const [index, word] of rest.entries())
    (word.startsWith('-') || valued.has(rest[index - 1] ?? '') ? flags : others).push(word)
  return { flags, others }
}

function quoteWord(word: string): string {
  return `'${word}'`
}
