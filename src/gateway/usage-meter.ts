import { EventData } from './event-data.js'
import { type Fields, JsonFields } from './json-fields.js'

/** The usage of one answer, as the model reported it. */
export interface MeteredUsage {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** The model's own id of its answer. */
  readonly id: string | null
  readonly model: string | null
}

/** The usage fields of Anthropic, of OpenAI (both of its dialects) and of Gemini. */
const COUNTERS = {
  input: ['usage.input_tokens', 'usage.prompt_tokens', 'usageMetadata.promptTokenCount'],
  moreInput: ['usageMetadata.toolUsePromptTokenCount'],
  /** Part of the input. */
  cachedInput: [
    ...['usage.input_tokens_details.cached_tokens', 'usage.prompt_tokens_details.cached_tokens'],
    'usageMetadata.cachedContentTokenCount',
  ],
  /** Not included in it. */
  cacheRead: ['usage.cache_read_input_tokens'],
  cacheWrite: ['usage.cache_creation_input_tokens'],
  output: ['usage.output_tokens', 'usage.completion_tokens', 'usageMetadata.candidatesTokenCount'],
  moreOutput: ['usageMetadata.thoughtsTokenCount'],
  /** Some exclude reasoning from the output, and report it here. */
  total: ['usage.total_tokens'],
} as const

type Counter = keyof typeof COUNTERS
type Counts = Partial<Record<Counter, number>>

const IDS = ['id', 'responseId']
const MODELS = ['model', 'modelVersion']
/** Prefixes of a single answer: none, an event of Anthropic, one of OpenAI. */
const AROUND = ['', 'message.', 'response.']
/** Prefixes of several answers requested at once, each of which counts. */
const AROUND_MANY = ['result.message.', 'response.body.']
/** The meaning of a field: a kind of token, or the id of the answer or the model. */
type Says = Counter | 'id' | 'model'

interface Place {
  readonly around: string
  readonly says: Says
}

const SAID: readonly (readonly [Says, readonly string[]])[] = [
  ...(Object.entries(COUNTERS) as [Counter, readonly string[]][]),
  ...([
    ['id', IDS],
    ['model', MODELS],
  ] as const),
]
/** Every wanted field. Answers consist of thousands of documents: each found field is looked up once. */
const PLACES: ReadonlyMap<string, Place> = new Map(
  [...AROUND, ...AROUND_MANY].flatMap((around) =>
    SAID.flatMap(([says, names]) => names.map((name) => [around + name, { around, says }] as const)),
  ),
)
const WANTED: ReadonlySet<string> = new Set(PLACES.keys())

const COUNT_MAX = 1_000_000_000
const NAME = /^[\x21-\x7e]{1,200}$/

interface Answer {
  readonly counts: Counts
  readonly id: string | null
  readonly model: string | null
}

const NOTHING: Answer = { counts: {}, id: null, model: null }

/** Reads the usage of one answer while it passes. It keeps a few numbers and never the answer. */
export class UsageMeter {
  #answer = NOTHING
  #many: MeteredUsage[] = []
  #body: EventData | JsonFields | null = null
  #isEvents = false
  readonly #fields = new JsonFields(WANTED, (fields) => this.#read(fields))

  /** Reads a piece of the answer. Returns finished answers: none, unless there are several in one. */
  take(bytes: Uint8Array): readonly MeteredUsage[] {
    const from = this.#body === null ? bytes.findIndex((byte) => !BEFORE.has(byte)) : 0
    if (from === -1) return []
    this.#body ??= this.#bodyOf(bytes[from])
    this.#body.take(bytes.subarray(from))
    return this.#many.splice(0)
  }

  /** The answer has ended or was cut off: what was reported so far counts. */
  end(): readonly MeteredUsage[] {
    this.#body?.end()
    const { counts, id, model } = this.#answer
    this.#answer = NOTHING
    const whole = toMetered(counts)
    return [...this.#many.splice(0), ...(whole === null ? [] : [{ ...whole, id, model }])]
  }

  /** Whether it was streamed: then a model wrote it, and it has usage. */
  get isEvents(): boolean {
    return this.#isEvents
  }

  #bodyOf(first: number | undefined): EventData | JsonFields {
    this.#isEvents = first !== OPEN_OBJECT && first !== OPEN_LIST
    return this.#isEvents ? new EventData(this.#fields) : this.#fields
  }

  #read(fields: Fields): void {
    for (const [around, answer] of extractAnswers(fields)) {
      // Repeated reports within an answer are totals so far.
      if (!AROUND_MANY.includes(around)) this.#answer = mergeAnswers(this.#answer, answer)
      else {
        const { counts, id, model } = answer
        const one = toMetered(counts)
        if (one !== null) this.#many.push({ ...one, id, model })
      }
    }
  }
}

/** Groups the fields of one document by answer; the key is the prefix of their paths. */
function extractAnswers(fields: Fields): ReadonlyMap<string, Answer> {
  const answers = new Map<string, { counts: Counts; id: string | null; model: string | null }>()
  for (const [path, told] of fields) {
    const place = PLACES.get(path)
    if (place === undefined) continue
    const { around, says } = place
    const answer = answers.get(around) ?? { counts: {}, id: null, model: null }
    answers.set(around, answer)
    if (says === 'id' || says === 'model') answer[says] ??= parseName(told)
    else if (isCount(told)) answer.counts[says] = Math.max(told, answer.counts[says] ?? 0)
  }
  return answers
}

function parseName(told: number | string): string | null {
  return typeof told === 'string' && NAME.test(told) ? told : null
}

function mergeAnswers(known: Answer, more: Answer): Answer {
  const counts: Counts = { ...known.counts }
  for (const [counter, told] of Object.entries(more.counts) as [Counter, number][])
    counts[counter] = Math.max(told, counts[counter] ?? 0)
  return { counts, id: known.id ?? more.id, model: known.model ?? more.model }
}

/** Null when there is no usage. */
function toMetered(counts: Counts): Omit<MeteredUsage, 'id' | 'model'> | null {
  const of = (counter: Counter): number => counts[counter] ?? 0
  const prompt = of('input')
  const input = Math.max(0, prompt + of('moreInput') - of('cachedInput'))
  const output = Math.max(of('output') + of('moreOutput'), of('total') - prompt)
  const cacheRead = Math.max(of('cacheRead'), of('cachedInput'))
  const cacheWrite = of('cacheWrite')
  return input + output + cacheRead + cacheWrite === 0 ? null : { input, output, cacheRead, cacheWrite }
}

/** An invalid or absurd number is ignored. */
function isCount(told: number | string | undefined): told is number {
  return typeof told === 'number' && Number.isSafeInteger(told) && told >= 0 && told <= COUNT_MAX
}

const OPEN_OBJECT = 0x7b
const OPEN_LIST = 0x5b
/** Spaces, and the byte order mark. */
const BEFORE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf])
