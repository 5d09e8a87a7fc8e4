import { type Folder, nameSteps, type Project, type Step } from './project.js'
import { findReportFile, PHPUNIT_REPORT } from './report-files.js'

type Found = Pick<Project, 'language' | 'testCommand' | 'install' | 'reportFile'> & {
  readonly lints?: readonly Step[]
  readonly with?: readonly string[]
}

interface Manifest {
  readonly scripts: Readonly<Record<string, readonly string[]>>
  readonly packages: ReadonlySet<string>
  /** The folder of the programs of packages. */
  readonly programs: string
}

/** How the tests of a PHP project are run: its `test` script if it has one, else the runner among its packages. */
export function readPhp(folder: Folder, text: string): Found {
  const manifest = readManifest(text)
  const hasComposer = folder.hasFile('composer.json')
  const base = { language: 'PHP', install: hasComposer ? 'composer install' : '' }
  const { scripts } = manifest
  if (scripts.test !== undefined && scripts.test.length > 0) {
    const split = splitScript(folder, manifest)
    return { ...base, testCommand: 'composer test', with: ['scripts.test'], ...split }
  }
  const runner = findRunner(folder, manifest)
  if (runner === null) return { ...base, testCommand: null, with: ['no scripts.test'] }
  const testCommand = addReport(`${runner.program}${findTestFolder(folder)}`)
  return { ...base, testCommand, reportFile: findReportFile(testCommand), with: [runner.why] }
}

function readManifest(text: string): Manifest {
  const fields = parseObject(text)
  const config = asObject(fields.config)
  const folder = typeof config['vendor-dir'] === 'string' ? config['vendor-dir'] : 'vendor'
  const programs = typeof config['bin-dir'] === 'string' ? config['bin-dir'] : `${folder}/bin`
  const scripts = Object.entries(asObject(fields.scripts)).map(([name, script]) => [name, listSteps(script)])
  return {
    scripts: Object.fromEntries(scripts),
    packages: new Set(['require', 'require-dev'].flatMap((name) => Object.keys(asObject(fields[name])))),
    programs: /^[\w./-]+$/.test(programs) ? programs.replace(/\/$/, '') : 'vendor/bin',
  }
}

// Why a manifest cannot be read is said elsewhere.
function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return {}
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {}
}

function listSteps(script: unknown): readonly string[] {
  const steps = Array.isArray(script) ? script : [script]
  return steps.filter((step) => typeof step === 'string' && step.trim() !== '').map((step) => String(step).trim())
}

const RUNNERS: readonly (readonly [name: string, package_: string])[] = [
  ['pest', 'pestphp/pest'],
  ['phpunit', 'phpunit/phpunit'],
  ['simple-phpunit', 'symfony/phpunit-bridge'],
]
/** Where PHPUnit lies that is no package of the project. */
const OTHER_PLACES = ['tools/phpunit', 'tools/phpunit.phar', 'phpunit.phar', 'bin/phpunit']
const CONFIGURATIONS = ['phpunit.xml', 'phpunit.xml.dist', 'phpunit.dist.xml']

function findRunner(
  folder: Folder,
  { packages, programs }: Manifest,
): { readonly program: string; readonly why: string } | null {
  const named = RUNNERS.find(([, package_]) => packages.has(package_))
  if (named !== undefined) return { program: `${programs}/${named[0]}`, why: `${named[1]} among its packages` }
  const place = OTHER_PLACES.find((path) => folder.hasFile(path))
  if (place !== undefined) return { program: `php ${place}`, why: place }
  const found = CONFIGURATIONS.find((file) => folder.hasFile(file))
  const program = folder.hasFile('composer.json') ? `${programs}/phpunit` : 'phpunit'
  if (found !== undefined) return { program, why: found }
  return null
}

// Without a configuration PHPUnit runs only what it is given.
function findTestFolder(folder: Folder): string {
  if (CONFIGURATIONS.some((file) => folder.hasFile(file))) return ''
  const found = ['tests', 'test'].find((name) => folder.files.some((path) => path.startsWith(`${name}/`)))
  return found === undefined ? '' : ` ${found}`
}

function addReport(command: string): string {
  if (findReportFile(command) !== undefined) return command
  return command.replace(TESTS, (program) => `${program} --log-junit ${PHPUNIT_REPORT}`)
}

const NOT_PLAIN = /[;|&<>$`\\"']/
const TESTS =
  /^(?:\w+=\S* )*(?:@?php (?:-d \S+ )*)?(?:\.\/)?(?:[\w.-]+\/)*(?:phpunit|simple-phpunit|pest|paratest)(?:\.phar)?(?= |$)/
const LINTS = /\b(?:phpstan|psalm|phpcs|php-cs-fixer|pint|rector|parallel-lint|phpmd|phan|ecs|lint|cs|stan|validate)\b/
/** Composer ends scripts after five minutes without it; commands here have their own limit. */
const NO_LIMIT = /^Composer\\+Config::disableProcessTimeout$/

/**
 * A `test` script that is one run of tests, and linters: the run with a report file, and the linters as steps of their
 * own. Empty for every other script, which stays whole.
 */
function splitScript(
  folder: Folder,
  manifest: Manifest,
): Pick<Found, 'testCommand' | 'reportFile' | 'lints' | 'with'> | Record<string, never> {
  const steps = flattenSteps('test', manifest.scripts)
  const tests = steps.filter(({ run }) => TESTS.test(run))
  const others = steps.filter((step) => !tests.includes(step))
  const [only] = tests
  if (only === undefined || tests.length > 1 || NOT_PLAIN.test(only.run)) return {}
  if (others.some(({ run, name }) => NOT_PLAIN.test(run) || !LINTS.test(`${name} ${run}`))) return {}
  const testCommand = addReport(formatProgram(only.run, folder, manifest))
  const lints = nameSteps(
    others.map(({ run }) => formatProgram(run, folder, manifest)),
    'lint',
  )
  const without = lints.length === 0 ? '' : ` without ${lints.map(({ run }) => `\`${run}\``).join(', ')}`
  return { testCommand, reportFile: findReportFile(testCommand), lints, with: [`scripts.test${without}`] }
}

interface ScriptStep {
  /** The script that it stands in. */
  readonly name: string
  readonly run: string
}

// `@name` runs another script. One that runs twice is not taken apart, and neither is `@putenv`.
function flattenSteps(name: string, scripts: Manifest['scripts'], seen = new Set([name])): readonly ScriptStep[] {
  return (scripts[name] ?? []).flatMap((run): readonly ScriptStep[] => {
    if (NO_LIMIT.test(run)) return []
    const [, inner = ''] = /^@([\w:.-]+)$/.exec(run) ?? []
    if (scripts[inner] === undefined || seen.has(inner)) return [{ name, run }]
    seen.add(inner)
    return flattenSteps(inner, scripts, seen)
  })
}

// Composer finds programs of packages by name; a shell does not.
function formatProgram(run: string, folder: Folder, { programs }: Manifest): string {
  const [variables = ''] = /^(?:\w+=\S* )*/.exec(run) ?? []
  const line = run.slice(variables.length).replace(/^@(?=(?:php|composer) )/, '')
  const [program = ''] = line.split(' ')
  const isFound = /^(?:php|composer)$/.test(program) || program.includes('/') || folder.hasFile(program)
  return `${variables}${isFound ? line : `${programs}/${line}`}`
}
