import { EventData } from './event-data.js'
import { type Fields, JsonFields } from './json-fields.js'

/** What one answer of a model took, as the model told it. */
export interface MeteredUsage {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** The name that the model gave to its answer. */
  readonly id: string | null
  readonly model: string | null
}

/** Where an endpoint says what it took, in the words of Anthropic, of OpenAI (both of its dialects) and of Gemini. */
const COUNTERS = {
  input: ['usage.input_tokens', 'usage.prompt_tokens', 'usageMetadata.promptTokenCount'],
  moreInput: ['usageMetadata.toolUsePromptTokenCount'],
  /** Part of the input. */
  cachedInput: [
    ...['usage.input_tokens_details.cached_tokens', 'usage.prompt_tokens_details.cached_tokens'],
    'usageMetadata.cachedContentTokenCount',
  ],
  /** Not part of it. */
  cacheRead: ['usage.cache_read_input_tokens'],
  cacheWrite: ['usage.cache_creation_input_tokens'],
  output: ['usage.output_tokens', 'usage.completion_tokens', 'usageMetadata.candidatesTokenCount'],
  moreOutput: ['usageMetadata.thoughtsTokenCount'],
  /** Some leave out of the output what the model thought, and have it in here. */
  total: ['usage.total_tokens'],
} as const

type Counter = keyof typeof COUNTERS
type Counts = Partial<Record<Counter, number>>

const IDS = ['id', 'responseId']
const MODELS = ['model', 'modelVersion']
/** Around the answer: nothing, an event of Anthropic, one of OpenAI. */
const AROUND = ['', 'message.', 'response.']
/** Around each of many answers that were asked for at once, of which every one counts. */
const AROUND_MANY = ['result.message.', 'response.body.']
/** What a field says: how much of what, or how the model names its answer or itself. */
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
/** Every field that is looked for. Answers come in thousands of documents: a field that is found is looked up once. */
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

/** Reads off one answer what it took, while it passes. It keeps a few numbers and never the answer. */
export class UsageMeter {
  #answer = NOTHING
  #many: MeteredUsage[] = []
  #body: EventData | JsonFields | null = null
  #isEvents = false
  readonly #fields = new JsonFields(WANTED, (fields) => this.#read(fields))

  /** Shows a piece of the answer. Gives what is over with it: nothing, unless there are many answers in one. */
  take(bytes: Uint8Array): readonly MeteredUsage[] {
    const from = this.#body === null ? bytes.findIndex((byte) => !BEFORE.has(byte)) : 0
    if (from === -1) return []
    this.#body ??= this.#bodyOf(bytes[from])
    this.#body.take(bytes.subarray(from))
    return this.#many.splice(0)
  }

  /** The answer is over, or cut off: what was told until then counts. */
  end(): readonly MeteredUsage[] {
    this.#body?.end()
    const { counts, id, model } = this.#answer
    this.#answer = NOTHING
    const whole = toMetered(counts)
    return [...this.#many.splice(0), ...(whole === null ? [] : [{ ...whole, id, model }])]
  }

  /** Whether it was told bit by bit: then somebody wrote it, and it took something. */
  get isEvents(): boolean {
    return this.#isEvents
  }

  #bodyOf(first: number | undefined): EventData | JsonFields {
    this.#isEvents = first !== OPEN_OBJECT && first !== OPEN_LIST
    return this.#isEvents ? new EventData(this.#fields) : this.#fields
  }

  #read(fields: Fields): void {
    for (const [around, answer] of extractAnswers(fields)) {
      // What is told again in the course of an answer is the sum up to then.
      if (!AROUND_MANY.includes(around)) this.#answer = mergeAnswers(this.#answer, answer)
      else {
        const { counts, id, model } = answer
        const one = toMetered(counts)
        if (one !== null) this.#many.push({ ...one, id, model })
      }
    }
  }
}

/** What one document says of answers, by what is around them. */
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

/** Null when nothing was taken. */
function toMetered(counts: Counts): Omit<MeteredUsage, 'id' | 'model'> | null {
  const of = (counter: Counter): number => counts[counter] ?? 0
  const prompt = of('input')
  const input = Math.max(0, prompt + of('moreInput') - of('cachedInput'))
  const output = Math.max(of('output') + of('moreOutput'), of('total') - prompt)
  const cacheRead = Math.max(of('cacheRead'), of('cachedInput'))
  const cacheWrite = of('cacheWrite')
  return input + output + cacheRead + cacheWrite === 0 ? null : { input, output, cacheRead, cacheWrite }
}

/** A number that is none, or that no sum could take, counts for nothing. */
function isCount(told: number | string | undefined): told is number {
  return typeof told === 'number' && Number.isSafeInteger(told) && told >= 0 && told <= COUNT_MAX
}

const OPEN_OBJECT = 0x7b
const OPEN_LIST = 0x5b
/** Spaces, and the mark that a text may begin with. */
const BEFORE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf])
