import type { Logger } from 'pino'
import { plainLine } from '../../core/plain-text.js'
import { type Cleaner, makeCleaner } from '../../store/redaction/clean-data.js'
import { listEnvironmentSecrets } from '../../store/redaction/secret-names.js'
import { tell } from '../terminal/terminal.js'
import type { LogFormat } from './log-formats.js'

type Level = 'info' | 'warn' | 'error'

/**
 * What the server writes to standard error: faults, alerts and notices, each on one line. Text for people on a terminal,
 * JSON elsewhere. Secrets are taken out like from events.
 */
export class ServerLog {
  #pino: Logger | null = null
  #redact: Cleaner['redact'] = makeCleaner(listEnvironmentSecrets(process.env)).redact

  async open(format: LogFormat): Promise<void> {
    if (format === 'text' || (format === 'auto' && process.stderr.isTTY === true)) return
    const { pino } = await import('pino')
    const levels = { level: (label: string) => ({ level: label }) }
    const options = { base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime, formatters: levels }
    // Written at once: the last line before an end must not be lost.
    this.#pino = pino(options, pino.destination({ fd: process.stderr.fd, sync: true }))
  }

  /** From here on the server's own secrets are taken out too. */
  useRedactor(redact: Cleaner['redact']): void {
    this.#redact = redact
  }

  notice(text: string): void {
    this.#write('info', text, {})
  }

  alert(text: string, fields: { readonly task: string; readonly alert: string; readonly isCleared: boolean }): void {
    const { task, alert, isCleared } = fields
    this.#write('warn', text, { task_id: task, alert, cleared: isCleared })
  }

  /** A bug or a broken machine. */
  fault(error: unknown): void {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    this.#write('error', `fault: ${text}`, {})
  }

  #write(level: Level, text: string, fields: Readonly<Record<string, string | boolean>>): void {
    const clean = plainLine(String(this.#redact(text)))
    if (this.#pino === null) tell(`${new Date().toISOString()} ${clean}`)
    else this.#pino[level](this.#redact(fields) as object, clean)
  }
}
