import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isBelowTestFolder, isTestName } from '../../core/paths/test-setup-names.js'

const MANIFEST_BYTES_MAX = 4 * 1024 * 1024

/** A part of a composite test command that is not the tests. */
export interface Step {
  /** Its name among the commands of the contract. */
  readonly name: string
  readonly run: string
}

export function nameSteps(lines: readonly string[], name: string): readonly Step[] {
  return lines.map((run, at) => ({ name: at === 0 ? name : `${name}_${at + 1}`, run }))
}

/** The file that a test command writes its results to, if its output does not name every test. */
export interface ReportFile {
  readonly format: 'junit' | 'rspec'
  /** A path or a glob. */
  readonly report: string
}

/** One way to build and test a repository. */
export interface Project {
  readonly language: string
  /** The file that identifies it. */
  readonly because: string
  /** The findings, as text. */
  readonly reason: string
  readonly testCommand: string | null
  /** Where the results are; absent: in the output. */
  readonly reportFile?: ReportFile | undefined
  /** What the test command finally runs, with the scripts that it calls. */
  readonly runs: string
  /** Builds before the tests: tried without them first, and kept if the tests do not run without. */
  readonly builds: readonly Step[]
  /** Linters and the like, which GREEN also requires. */
  readonly lints: readonly Step[]
  /** How its packages are installed. */
  readonly install: string
  /** Why the manifest could not be used; null if it was read. */
  readonly problem: string | null
}

/** The folder of a repository, as detection reads it. */
export class Folder {
  constructor(
    readonly path: string,
    /** Tracked files or, without git, all files. */
    readonly files: readonly string[],
  ) {}

  has(name: string): boolean {
    return existsSync(join(this.path, name))
  }

  /** Reading a pipe waits for a writer: only regular files count. */
  hasFile(name: string): boolean {
    return statSync(join(this.path, name), { throwIfNoEntry: false })?.isFile() === true
  }

  /** The text of a file; empty if it cannot be read as text. */
  read(name: string): string {
    const found = this.readManifest(name)
    return 'text' in found ? found.text : ''
  }

  readManifest(name: string): { readonly text: string } | { readonly problem: string } {
    if (!this.hasFile(name)) return { text: '' }
    try {
      const bytes = readFileSync(join(this.path, name))
      if (bytes.length > MANIFEST_BYTES_MAX) return { problem: `${name} is larger than 4 MB` }
      return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      const why = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'it is not UTF-8 text' : (code ?? 'fault')
      return { problem: `${name} cannot be read (${why})` }
    }
  }

  /** The number of files of a language, and how many of them are tests. */
  count(ending: RegExp): { readonly sources: number; readonly tests: number } {
    const sources = this.files.filter((path) => ending.test(path))
    return { sources: sources.length, tests: sources.filter(isTestFile).length }
  }
}

/** Whether a source file is a test by its name or its folder. */
export function isTestFile(path: string): boolean {
  return isTestName(path) || isBelowTestFolder(path) || ROOT_TEST.test(path)
}

const ROOT_TEST = /^tests?\.([cm]?[jt]sx?|py|rb|php)$/

const ENDINGS: Readonly<Record<string, RegExp>> = {
  JavaScript: /\.[cm]?[jt]sx?$/,
  TypeScript: /\.[cm]?[jt]sx?$/,
  Python: /\.py$/,
  Go: /\.go$/,
  Rust: /\.rs$/,
  Java: /\.(java|kt|groovy|scala)$/,
  Kotlin: /\.(java|kt)$/,
  Ruby: /\.rb$/,
  PHP: /\.php$/,
  Elixir: /\.exs?$/,
  'C#': /\.(cs|fs)$/,
}

export function findEnding(language: string): RegExp {
  return ENDINGS[language] ?? /\.(c|cc|cpp|sh|bats|pl|jl|r|swift|dart)$/
}
