import { formatDidYouMean } from '../../contract/nearest.js'
import { compilePattern } from '../../contract/patterns.js'
import type { Json, JsonObject } from '../../core/json.js'
import { asObject, getField } from '../check-inputs.js'
import { toOneLine } from '../reports/text.js'
import { EXAMPLE_LIMITS, type Example, type ExpectedResult, type HttpExpected } from './example.js'

interface ExampleProblem {
  readonly pointer: string
  readonly message: string
}

interface ReadExamples {
  readonly examples: readonly Example[]
  readonly problems: readonly ExampleProblem[]
}

const NAME_CHARS_MAX = 80
const EXAMPLE = ['run', 'stdin', 'expect'] as const
const EXPECT = ['exit_code', 'stdout', 'stdout_json', 'matches', 'http'] as const
const HTTP = ['port', 'method', 'path', 'headers', 'body', 'status', 'json', 'text', 'matches'] as const
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** The examples of a plan, in the order of its criteria, and all their problems. */
export function readPlanExamples(plan: Json | undefined): ReadExamples {
  const criteria = getField(asObject(plan), 'acceptance_criteria')
  const found: ReadExamples[] = []
  for (const [index, one] of (Array.isArray(criteria) ? (criteria as readonly Json[]) : []).entries()) {
    const criterion = asObject(one)
    const given = getField(criterion, 'examples')
    if (given === undefined) continue
    const name = formatCriterionName(criterion, index)
    const pointer = `/acceptance_criteria/${index}/examples`
    found.push(readList(given, pointer, () => name))
  }
  return boundExamples(found, '/acceptance_criteria')
}

/** The examples of `held_out: {examples: […]}`; each may name its criterion. */
export function readHeldOutExamples(given: Json): ReadExamples {
  const about = asObject(given)
  if (about === null) return makeProblem('', 'must be an object with `examples`')
  const unknown = findUnknownKeys(about, ['examples'], { pointer: '', label: '' })
  const list = getField(about, 'examples')
  if (list === undefined)
    return { examples: [], problems: [...unknown, { pointer: '/examples', message: 'is missing' }] }
  const read = readList(list, '/examples', (one) => {
    const criterion = getField(one, 'criterion')
    return typeof criterion === 'string' && criterion.trim() !== '' ? toOneLine(criterion, NAME_CHARS_MAX) : null
  })
  return boundExamples([{ examples: [], problems: unknown }, read], '/examples')
}

function formatCriterionName(criterion: JsonObject | null, index: number): string {
  const name = [getField(criterion, 'id'), getField(criterion, 'criterion')].find((one) => typeof one === 'string')
  return typeof name === 'string' && name.trim() !== '' ? toOneLine(name, NAME_CHARS_MAX) : `number ${index + 1}`
}

function makeProblem(pointer: string, message: string): ReadExamples {
  return { examples: [], problems: [{ pointer, message }] }
}

function boundExamples(found: readonly ReadExamples[], pointer: string): ReadExamples {
  const examples = found.flatMap((one) => one.examples)
  const problems = found.flatMap((one) => one.problems)
  if (examples.length <= EXAMPLE_LIMITS.examples) return { examples, problems }
  const message = `there are ${examples.length} examples; at most ${EXAMPLE_LIMITS.examples} are run`
  return { examples, problems: [...problems, { pointer, message }] }
}

function readList(
  given: Json,
  pointer: string,
  criterionOf: (example: JsonObject | null) => string | null,
): ReadExamples {
  if (!Array.isArray(given)) return makeProblem(pointer, 'must be a list of examples: [{run, stdin?, expect}]')
  const problems: ExampleProblem[] = []
  const examples: Example[] = []
  const counts = new Map<string | null, number>()
  for (const [index, one] of (given as readonly Json[]).entries()) {
    const object = asObject(one)
    const criterion = criterionOf(object)
    const number = (counts.get(criterion) ?? 0) + 1
    counts.set(criterion, number)
    const label = `${criterion === null ? '' : `criterion ${criterion}, `}example ${number}: `
    const reader = new Reader(`${pointer}/${index}`, label, problems)
    if (object === null) reader.addProblem('', 'must be an object with run and expect')
    else examples.push({ criterion, number, ...readExample(object, reader, pointer === '/examples') })
  }
  return { examples, problems }
}

/** Collects problems, each with its place and a description. */
class Reader {
  constructor(
    readonly pointer: string,
    readonly label: string,
    readonly problems: ExampleProblem[],
  ) {}

  addProblem(at: string, message: string): void {
    this.problems.push({ pointer: `${this.pointer}${at}`, message: `${this.label}${message}` })
  }

  readText(object: JsonObject, key: string, at: string, charsMax: number = EXAMPLE_LIMITS.textBytes): string | null {
    const value = getField(object, key)
    if (value === undefined) return null
    if (typeof value === 'string' && Buffer.byteLength(value) <= charsMax) return value
    this.addProblem(at, typeof value === 'string' ? `is longer than ${charsMax} bytes` : 'must be text')
    return null
  }

  readWhole(
    object: JsonObject,
    key: string,
    limits: { at: string; min: number; max: number; otherwise: number },
  ): number {
    const value = getField(object, key)
    if (value === undefined) return limits.otherwise
    if (typeof value === 'number' && Number.isInteger(value) && value >= limits.min && value <= limits.max) return value
    this.addProblem(limits.at, `must be a whole number from ${limits.min} to ${limits.max}`)
    return limits.otherwise
  }

  readJson(object: JsonObject, key: string, at: string): Json | undefined {
    const value = getField(object, key)
    if (value !== undefined && Buffer.byteLength(JSON.stringify(value)) > EXAMPLE_LIMITS.textBytes)
      this.addProblem(at, `is larger than ${EXAMPLE_LIMITS.textBytes} bytes of JSON`)
    return value
  }

  readPattern(object: JsonObject, at: string): string | null {
    const pattern = this.readText(object, 'matches', at, EXAMPLE_LIMITS.patternChars)
    const compiled = pattern === null ? null : compilePattern(pattern)
    if (compiled !== null && !compiled.ok) this.addProblem(at, `is not an RE2 pattern: ${compiled.reason}`)
    return pattern
  }

  unknown(object: JsonObject, known: readonly string[], at: string): void {
    this.problems.push(...findUnknownKeys(object, known, { pointer: `${this.pointer}${at}`, label: this.label }))
  }
}

function findUnknownKeys(
  object: JsonObject,
  known: readonly string[],
  { pointer, label }: { readonly pointer: string; readonly label: string },
): readonly ExampleProblem[] {
  return Object.keys(object)
    .filter((key) => !known.includes(key))
    .map((key) => ({
      pointer,
      message: `${label}${JSON.stringify(key.slice(0, NAME_CHARS_MAX))} is not known. ${formatDidYouMean(key, known)}Known: ${known.join(', ')}`,
    }))
}

function readExample(
  object: JsonObject,
  reader: Reader,
  namesCriterion: boolean,
): Pick<Example, 'run' | 'stdin' | 'expect'> {
  reader.unknown(object, namesCriterion ? ['criterion', ...EXAMPLE] : EXAMPLE, '')
  if (namesCriterion && getField(object, 'criterion') !== undefined) reader.readText(object, 'criterion', '/criterion')
  const run = reader.readText(object, 'run', '/run', EXAMPLE_LIMITS.runChars)
  if (getField(object, 'run') === undefined) reader.addProblem('/run', 'is missing: the command to run')
  else if (run !== null && (run.trim() === '' || run.includes('\0')))
    reader.addProblem('/run', 'must be a command line')
  const stdin = reader.readText(object, 'stdin', '/stdin')
  const given = getField(object, 'expect')
  const expect = asObject(given)
  if (expect === null)
    reader.addProblem('/expect', given === undefined ? 'is missing: what the command must answer' : 'must be an object')
  if (stdin !== null && getField(expect, 'http') !== undefined)
    reader.addProblem('/stdin', 'is not sent to a server; say what is sent in expect.http.body')
  return { run: run ?? '', stdin: stdin ?? '', expect: readExpected(expect ?? {}, reader, expect !== null) }
}

function readExpected(expect: JsonObject, reader: Reader, isGiven: boolean): ExpectedResult {
  reader.unknown(expect, EXPECT, '/expect')
  if (isGiven && !EXPECT.some((key) => getField(expect, key) !== undefined))
    reader.addProblem('/expect', `expects nothing. Give one of ${EXPECT.join(', ')}`)
  const http = getField(expect, 'http')
  const others = EXPECT.filter((key) => key !== 'http' && getField(expect, key) !== undefined)
  if (http !== undefined && others.length > 0)
    reader.addProblem('/expect', `${others.join(', ')} cannot be expected of a server; say it inside http`)
  const stdoutJson = reader.readJson(expect, 'stdout_json', '/expect/stdout_json')
  return {
    exitCode: reader.readWhole(expect, 'exit_code', { at: '/expect/exit_code', min: 0, max: 255, otherwise: 0 }),
    stdout: reader.readText(expect, 'stdout', '/expect/stdout'),
    ...(stdoutJson === undefined ? {} : { stdoutJson }),
    matches: reader.readPattern(expect, '/expect/matches'),
    http: http === undefined ? null : readHttp(http, reader),
  }
}

function readHttp(given: Json, reader: Reader): HttpExpected | null {
  const at = '/expect/http'
  const http = asObject(given)
  if (http === null) {
    reader.addProblem(at, 'must be an object with port and path')
    return null
  }
  reader.unknown(http, HTTP, at)
  if (getField(http, 'port') === undefined) reader.addProblem(`${at}/port`, 'is missing: where the server listens')
  const method = reader.readText(http, 'method', `${at}/method`) ?? 'GET'
  if (!METHODS.includes(method)) reader.addProblem(`${at}/method`, `must be one of ${METHODS.join(', ')}`)
  const path = reader.readText(http, 'path', `${at}/path`, EXAMPLE_LIMITS.runChars)
  if (path === null || !/^\/[!-~]*$/.test(path))
    reader.addProblem(`${at}/path`, 'must begin with / and have neither spaces nor other characters than ASCII')
  const json = reader.readJson(http, 'json', `${at}/json`)
  return {
    port: reader.readWhole(http, 'port', { at: `${at}/port`, min: 1024, max: 65_535, otherwise: 1024 }),
    method,
    path: path ?? '/',
    headers: readHeaders(getField(http, 'headers'), reader),
    body: reader.readJson(http, 'body', `${at}/body`) ?? null,
    status: reader.readWhole(http, 'status', { at: `${at}/status`, min: 200, max: 599, otherwise: 200 }),
    ...(json === undefined ? {} : { json }),
    text: reader.readText(http, 'text', `${at}/text`),
    matches: reader.readPattern(http, `${at}/matches`),
  }
}

const OWN_HEADERS = ['host', 'connection', 'content-length', 'transfer-encoding', 'accept-encoding', 'expect']

function readHeaders(given: Json | undefined, reader: Reader): Readonly<Record<string, string>> {
  const at = '/expect/http/headers'
  if (given === undefined) return {}
  const entries = Object.entries(asObject(given) ?? {})
  const isRight = ([name, value]: readonly [string, Json]): boolean =>
    /^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name) && typeof value === 'string' && /^[\t -~]{0,2000}$/.test(value)
  if (asObject(given) === null || entries.length > EXAMPLE_LIMITS.headers || !entries.every(isRight))
    reader.addProblem(at, `must be an object of at most ${EXAMPLE_LIMITS.headers} header names with a text each`)
  const own = entries.find(([name]) => OWN_HEADERS.includes(name.toLowerCase()))
  if (own !== undefined) reader.addProblem(at, `${own[0]} is set by Phaselock`)
  return Object.fromEntries(entries.filter(isRight)) as Record<string, string>
}
