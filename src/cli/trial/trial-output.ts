import { showsRefusedKill } from '../../checks/refused-signal.js'
import { isSource } from '../../checks/test-files/test-files.js'
import { plainLine } from '../../core/plain-text.js'
import { isTestFile } from '../init/project.js'

const LINE_CHARS_MAX = 4096
const LAST_CHARS_MAX = 80
/** A file that was named longer ago says nothing about what runs now. */
const LINES_SINCE_MAX = 20
const QUIET_SECONDS_MIN = 5

const PATH = /[\w@./+-]+\.\w+/g
// Lines of TAP and npm that say nothing about which test it is.
const DETAIL = /^(?:---|\.\.\.|> .*|TAP version \d+|\d+\.\.\d+|(?:duration_ms|type|location|failureType|code): .*)$/

/** What a command under trial has printed so far: when, and which test file or line came last. */
export class TrialOutput {
  readonly #startedAt: number
  #printedAt: number
  #endedAt: number | null = null
  #rest = ''
  #line = ''
  #file: string | null = null
  #linesSince = 0
  #hasRefusal = false

  constructor(
    private readonly about: {
      /** Absolute. */
      readonly tree: string
      readonly redact: (text: string) => string
      readonly now?: () => number
      /** The command compiles before it prints anything. */
      readonly compiles?: boolean
    },
  ) {
    this.#startedAt = this.#now()
    this.#printedAt = this.#startedAt
  }

  take(chunk: Buffer): void {
    this.#printedAt = this.#now()
    const lines = `${this.#rest}${chunk.toString('utf8')}`.split('\n')
    this.#rest = (lines.pop() ?? '').slice(-LINE_CHARS_MAX)
    for (const line of lines) this.#read(line)
  }

  /** Whether it shows that a process was not allowed to send a signal. */
  get hasRefusal(): boolean {
    return this.#hasRefusal
  }

  /** Stops the clock: later questions are answered as of now. */
  end(): void {
    this.#endedAt ??= this.#now()
  }

  countQuietSeconds(): number {
    return Math.floor((this.#now() - this.#printedAt) / 1000)
  }

  countSeconds(): number {
    return Math.round((this.#now() - this.#startedAt) / 1000)
  }

  /** For how long nothing was printed, and what came last; empty while there is output. */
  describeQuiet(): string {
    const seconds = this.countQuietSeconds()
    if (seconds < QUIET_SECONDS_MIN) return ''
    const isRecent = this.#linesSince <= LINES_SINCE_MAX
    const last = isRecent && this.#file !== null ? this.#file : this.#line
    const shown = plainLine(this.about.redact(last)).slice(0, LAST_CHARS_MAX)
    if (shown === '' && this.about.compiles === true) return `no output for ${seconds} s; it compiles first`
    return `no output for ${seconds} s${shown === '' ? '' : `; last: ${shown}`}`
  }

  #now(): number {
    return this.#endedAt ?? (this.about.now ?? Date.now)()
  }

  #read(line: string): void {
    const text = plainLine(line.slice(0, LINE_CHARS_MAX))
    if (!/\w/.test(text)) return
    this.#linesSince += 1
    this.#hasRefusal ||= showsRefusedKill(text)
    if (!DETAIL.test(text)) this.#line = text.replace(/^# Subtest: /, '')
    const paths = [...text.matchAll(PATH)].map(([path]) => this.#shorten(path))
    const file = paths.find(isOwnTest)
    if (file === undefined) return
    this.#file = file
    this.#linesSince = 0
  }

  // In a path of the machine, only what follows the tree names a file of the project.
  #shorten(path: string): string {
    const at = path.indexOf(`${this.about.tree}/`)
    return at === -1 ? path : path.slice(at + this.about.tree.length + 1)
  }
}

function isOwnTest(path: string): boolean {
  return isSource(path) && isTestFile(path) && !path.startsWith('/') && !path.includes('node_modules/')
}
