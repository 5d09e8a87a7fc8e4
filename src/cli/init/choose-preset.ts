import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { BUNDLED_BASES, BUNDLED_PREFIX } from '../../contract/bundled-contracts.js'
import type { ObservedRun } from '../../core/evidence/observed-run.js'
import type { Project, ReportFile } from './project.js'

/** A preset that fits a repository, and the patterns that `init` need not write. */
export interface Preset {
  /** `phaselock/javascript-node-test`. */
  readonly name: string
  readonly patterns: readonly string[]
  /** Where the command of the preset writes its results. */
  readonly reportFile: Partial<ReportFile>
}

interface Kind {
  readonly preset: string
  /** Matches the test command and the scripts that it calls. */
  readonly runner: RegExp
  /** The report formats of the runner. */
  readonly formats: readonly string[]
  /** Its preset names a report file: it fits only a command that writes one. */
  readonly hasReport?: true
}

const SCRIPT_KINDS: readonly Kind[] = [
  { preset: 'vitest', runner: /\bvitest\b/, formats: ['vitest'] },
  { preset: 'jest', runner: /\bjest\b|\breact-scripts\b/, formats: ['jest'] },
  { preset: 'mocha', runner: /\bmocha\b/, formats: ['mocha'] },
  { preset: 'node-test', runner: /\bnode\b.* --test\b/, formats: ['node'] },
]

const JAVA_KINDS: readonly Kind[] = [
  { preset: 'java-maven', runner: /\bmvnw?\b/, formats: ['junit'], hasReport: true },
  { preset: 'java-gradle', runner: /\bgradlew?\b/, formats: ['junit'], hasReport: true },
]

const KINDS: Readonly<Record<string, readonly Kind[]>> = {
  JavaScript: SCRIPT_KINDS.map((kind) => ({ ...kind, preset: `javascript-${kind.preset}` })),
  TypeScript: SCRIPT_KINDS.map((kind) => ({ ...kind, preset: `typescript-${kind.preset}` })),
  Python: [
    { preset: 'python-pytest', runner: /\bpytest\b/, formats: ['pytest'] },
    { preset: 'python-unittest', runner: /\bunittest\b/, formats: ['unittest', 'pytest'] },
  ],
  Go: [{ preset: 'go', runner: /\bgo test\b/, formats: ['go'] }],
  Rust: [{ preset: 'rust', runner: /\bcargo test\b/, formats: ['cargo'] }],
  Java: JAVA_KINDS,
  Kotlin: JAVA_KINDS,
  Ruby: [{ preset: 'ruby-rspec', runner: /\brspec\b/, formats: ['rspec', 'junit'], hasReport: true }],
  PHP: [{ preset: 'php-phpunit', runner: /\b(?:phpunit|pest|paratest)\b/, formats: ['junit'], hasReport: true }],
}

/** The preset of the runner; null if several fit, or if the trial found another format. */
export function choosePreset(
  { language, runs, testCommand, reportFile }: Pick<Project, 'language' | 'runs' | 'testCommand' | 'reportFile'>,
  run: ObservedRun | null,
): Preset | null {
  const said = `${testCommand ?? ''}\n${runs}`
  const [kind, ...others] = (KINDS[language] ?? []).filter(({ runner }) => runner.test(said))
  if (kind === undefined || others.length > 0) return null
  if (run !== null && !kind.formats.includes(run.format ?? '')) return null
  if (kind.hasReport === true && reportFile === undefined) return null
  const name = `${BUNDLED_PREFIX}${kind.preset}`
  const { tests, commands } = readPreset(name)
  return { name, patterns: tests?.patterns ?? [], reportFile: commands?.tests ?? {} }
}

interface Written {
  readonly extends?: string
  readonly tests?: { readonly patterns: readonly string[] }
  readonly commands?: { readonly tests?: Partial<ReportFile> }
}

function readPreset(name: string): Written {
  const path = BUNDLED_BASES.get(name)
  if (path === undefined) throw new Error(`the preset ${name} is not there`)
  const preset = parse(readFileSync(path, 'utf8')) as Written
  return preset.extends === undefined ? preset : { ...readPreset(preset.extends), ...preset }
}
