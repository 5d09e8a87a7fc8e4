import { findNodeManager, type NodeManager } from './node-manager.js'
import { type Folder, isTestFile, nameSteps, type Project } from './project.js'
import { RUNNERS_READ } from './runners-read.js'

type Scripts = Readonly<Record<string, string>>

interface Manifest {
  readonly scripts: Scripts
  readonly packages: ReadonlySet<string>
  readonly hasWorkspaces: boolean
  readonly manager: string
}

/** A Node.js project; null if there is no package.json. */
export function findNodeProject(folder: Folder): Project | null {
  if (!folder.hasFile('package.json')) return null
  const read = readPackageJson(folder)
  const isManifest = 'scripts' in read
  const manifest: Manifest = isManifest ? read : EMPTY
  const manager = findNodeManager(folder, manifest.manager)
  const common = {
    language: folder.has('tsconfig.json') ? 'TypeScript' : 'JavaScript',
    because: 'package.json',
    install: manager.install,
    problem: isManifest ? null : read.problem,
  }
  return { ...common, ...findTests(folder, manifest, manager) }
}

const EMPTY: Manifest = { scripts: {}, packages: new Set(), hasWorkspaces: false, manager: '' }
type Tests = Pick<Project, 'testCommand' | 'runs' | 'reason' | 'builds' | 'lints'>

function findTests(folder: Folder, manifest: Manifest, manager: NodeManager): Tests {
  const { scripts, hasWorkspaces } = manifest
  const whole = { builds: [], lints: [] }
  const from = `package.json, ${manager.sign}`
  // The default script of `npm init` is not a test command.
  if (scripts.test !== undefined && !scripts.test.includes('no test specified')) {
    const runs = expandScript('test', scripts)
    const split = splitScript(folder, scripts, manager)
    const ava = scripts.pretest === undefined && /^ava\b[^&|;]*$/.test(scripts.test) ? scripts.test : null
    if (split === null && ava !== null)
      return { testCommand: formatStep(ava, folder, manager), runs, reason: `${from}, scripts.test`, ...whole }
    if (split === null) return { testCommand: `${manager.name} test`, runs, reason: `${from}, scripts.test`, ...whole }
    return { ...split, runs, reason: `${from}, scripts.test without ${formatSteps(split)}` }
  }
  const workspaces = manager.workspaces
  if (hasWorkspaces || folder.hasFile('pnpm-workspace.yaml'))
    return { testCommand: workspaces, runs: workspaces, reason: `${from}, workspaces`, ...whole }
  const runner = findInstalledRunner(folder, manifest, manager)
  if (runner === null) return { testCommand: null, runs: '', reason: `${from}, no scripts.test`, ...whole }
  return { testCommand: runner.run, runs: runner.run, reason: `${from}, ${runner.why}`, ...whole }
}

function formatSteps({ builds, lints }: Pick<Tests, 'builds' | 'lints'>): string {
  return [...builds, ...lints].map(({ run }) => `\`${run}\``).join(', ')
}

const RUNNERS: readonly (readonly [name: string, args: string])[] = [
  ['vitest', 'vitest run'],
  ['jest', 'jest'],
  ['mocha', 'mocha'],
  ['ava', 'ava --tap'],
]
const TESTS_READ_MAX = 20

function findInstalledRunner(
  folder: Folder,
  { packages }: Manifest,
  manager: NodeManager,
): { readonly run: string; readonly why: string } | null {
  const runner = RUNNERS.find(([name]) => packages.has(name))
  if (runner !== undefined) return { run: `${manager.exec} ${runner[1]}`, why: `${runner[0]} among its packages` }
  const tests = folder.files.filter((path) => /\.[cm]?js$/.test(path) && isTestFile(path)).slice(0, TESTS_READ_MAX)
  const using = tests.find((path) => /['"]node:test['"]/.test(folder.read(path)))
  return using === undefined ? null : { run: 'node --test', why: `${using} imports node:test` }
}

function readPackageJson(folder: Folder): Manifest | { readonly problem: string } {
  const found = folder.readManifest('package.json')
  if ('problem' in found) return found
  try {
    const json: unknown = JSON.parse(found.text)
    if (typeof json !== 'object' || json === null || Array.isArray(json))
      return { problem: 'package.json does not hold an object' }
    const fields = json as Readonly<Record<string, unknown>>
    const packages = ['dependencies', 'devDependencies'].flatMap((name) => Object.keys(asObject(fields[name])))
    const scripts = Object.entries(asObject(fields.scripts)).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    )
    return {
      scripts: Object.fromEntries(scripts),
      packages: new Set(packages),
      hasWorkspaces: fields.workspaces !== undefined,
      manager: typeof fields.packageManager === 'string' ? fields.packageManager : '',
    }
  } catch (error) {
    return { problem: `package.json is not valid JSON (${error instanceof Error ? error.message : 'fault'})` }
  }
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}

/** The text of a script, and of the scripts that it runs. */
function expandScript(name: string, scripts: Scripts, seen = new Set<string>()): string {
  const text = scripts[name]
  if (text === undefined || seen.has(name)) return ''
  seen.add(name)
  const inner = [...text.matchAll(RUN_SCRIPT)].map(([, next = '']) => next)
  const names = [`pre${name}`, ...inner, `post${name}`]
  return [text, ...names.map((next) => expandScript(next, scripts, seen))].filter((one) => one !== '').join('\n')
}

const RUN_SCRIPT = /\b(?:npm|pnpm|yarn|bun)(?: run(?:-script)?)?(?: -s| --silent)? ([\w:.-]+)/g
// Such a script is not a plain list of steps.
const NOT_A_LIST = /\|\||;|\||[`&]\s*$|\$\(|(?<!&)&(?!&)|\bcd\b/
const LINT =
  /\b(eslint|biome|prettier|oxlint|xo|standard|tslint|stylelint|tsd|knip|publint|attw|commitlint|cspell|markdownlint(-cli2?)?|typecheck|type-check|check-types|check:types|lint|format(:check)?|fmt)\b|--noEmit\b/
const PROGRAMS =
  /^(?:\w+=\S* )*(?:node|npm|npx|pnpm|yarn|bun|bunx|echo|rm|cp|mv|mkdir|make|sh|bash|test|true|env|deno|python3?)\b/

/**
 * Splits a `test` script that is a list of steps: test runs, builds before them, and other checks. Null if it has one
 * step only, or cannot be split.
 */
function splitScript(
  folder: Folder,
  scripts: Scripts,
  manager: NodeManager,
): Pick<Tests, 'testCommand' | 'builds' | 'lints'> | null {
  const texts = ['pretest', 'test', 'posttest'].flatMap((name) => scripts[name] ?? [])
  const steps = texts.flatMap((text) => flattenSteps(text, scripts, 0))
  if (steps.length < 2 || steps.some((step) => NOT_A_LIST.test(step))) return null
  const isTests = steps.map((step) => RUNNERS_READ.test(expandStep(step, scripts)) && !LINT.test(takeFirstWords(step)))
  const [first, last] = [isTests.indexOf(true), isTests.lastIndexOf(true)]
  if (first === -1) return null
  const toLine = (step: string): string => formatStep(replaceManager(step, scripts, manager), folder, manager)
  const isLint = (step: string): boolean => LINT.test(expandStep(step, scripts))
  const others = steps.filter((_, at) => isTests[at] !== true)
  if (others.length === 0) return null
  // A build between two runs of tests belongs to the second.
  if (steps.slice(first, last).some((step, at) => isTests[first + at] !== true && !isLint(step))) return null
  const before = steps.slice(0, first).filter((step) => !isLint(step))
  const after = steps.slice(last + 1).filter((step) => !isLint(step))
  return {
    testCommand: steps
      .filter((_, at) => isTests[at] === true)
      .map(toLine)
      .join(' && '),
    builds: nameSteps(before.map(toLine), 'build'),
    lints: [...nameSteps(others.filter(isLint).map(toLine), 'lint'), ...nameSteps(after.map(toLine), 'check')],
  }
}

const DEPTH_MAX = 5

// `npm test` that runs `npm run lint && npm run unit` through another script is the same list.
function flattenSteps(text: string, scripts: Scripts, depth: number): readonly string[] {
  const steps = text
    .split('&&')
    .map((step) => step.trim())
    .filter((step) => step !== '')
  const [only, ...rest] = steps
  const [, name = ''] =
    /^(?:npm|pnpm|yarn|bun)(?: run(?:-script)?)?(?: -s| --silent)? ([\w:.-]+)$/.exec(only ?? '') ?? []
  const inner = scripts[name]
  return rest.length === 0 && inner?.includes('&&') === true && depth < DEPTH_MAX
    ? flattenSteps(inner, scripts, depth + 1)
    : steps
}

function expandStep(step: string, scripts: Scripts): string {
  const names = [...step.matchAll(RUN_SCRIPT)].map(([, name = '']) => name)
  return [step, ...names.map((name) => expandScript(name, scripts))].join('\n')
}

// Without options: `vitest run --typecheck` is a run of tests.
function takeFirstWords(step: string): string {
  const words = step.split(/\s+/).slice(0, 3)
  return words.filter((word) => !word.startsWith('-')).join(' ')
}

// `pnpm lint` is the script `lint`, which npm runs too; `pnpm exec` and a program of a package are for npx.
function replaceManager(step: string, scripts: Scripts, { isReplaced }: NodeManager): string {
  const [, , name = '', rest = ''] = /^(pnpm|yarn|bun)(?: run)? ([\w:.-]+)(.*)$/.exec(step) ?? []
  if (isReplaced !== true || name === '') return step
  if (scripts[name] !== undefined) return `npm run ${name}${rest.trim() === '' ? '' : ` --${rest}`}`
  return step.replace(/^(?:pnpm|yarn|bun)(?: exec| run)? /, 'npx ')
}

// Scripts find programs of packages by name; a shell does not.
function formatStep(step: string, folder: Folder, manager: NodeManager): string {
  const program = step.replace(/^(?:\w+=\S* )*/, '').split(/\s/)[0] ?? ''
  if (PROGRAMS.test(step) && !folder.has(`node_modules/.bin/${program}`)) return step
  const [variables = ''] = /^(?:\w+=\S* )*/.exec(step) ?? []
  const words = step.slice(variables.length)
  // What it prints for people has no results that can be read.
  const readable = program === 'ava' && !/--tap\b|\s-t\b/.test(words) ? words.replace('ava', 'ava --tap') : words
  return `${variables}${manager.exec} ${readable}`
}
