import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JobSocket } from '../../confinement/confinement.js'

/** What a runner reported on the socket of Phaselock, in addition to the report that the command wrote. */
export interface SecondReport {
  readonly runner: string
  /** The runner finished. */
  readonly hasEnded: boolean
  readonly tests: readonly ToldTest[]
}

export interface ToldTest {
  readonly name: string
  readonly status: 'passed' | 'failed' | 'skipped' | 'todo'
  /** A suite, a hook, a test with parts, or one that is expected to fail: reporters differ in whether they count it. */
  readonly isParent: boolean
  /** The name in the output of the runner; null if the runner does not report it. */
  readonly id: string | null
}

/** A socket for one run. Any process can report tests on it; no report can be withdrawn. */
interface SecondChannel {
  readonly socket: JobSocket
  /** Call it when all processes of the command have ended. */
  told(): Promise<readonly SecondReport[]>
  close(): void
}

const CONNECTIONS_MAX = 500
const BYTES_MAX = 16 * 1024 * 1024
const LAST_WORDS_MS_MAX = 2000

export async function openSecondChannel(): Promise<SecondChannel> {
  // The path of a socket has at most 107 bytes.
  const dir = mkdtempSync(join(tmpdir().length > 60 ? '/tmp' : tmpdir(), 'phaselock-report-'))
  const path = join(dir, 's')
  const texts: { text: string; isCut: boolean }[] = []
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    if (texts.length >= CONNECTIONS_MAX) return socket.destroy()
    const said = { text: '', isCut: false }
    texts.push(said)
    open.add(socket)
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => {
      said.isCut ||= said.text.length + chunk.length > BYTES_MAX
      if (!said.isCut) said.text += chunk
    })
    socket.on('error', () => undefined)
    socket.on('close', () => open.delete(socket))
    return socket
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  // Commands may run under another account. Only this run uses the folder.
  chmodSync(path, 0o666)
  return {
    socket: { name: 'report', path },
    told: async () => {
      const until = Date.now() + LAST_WORDS_MS_MAX
      while (open.size > 0 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 2))
      return texts.flatMap(({ text, isCut }) => readSecondReport(text, isCut) ?? [])
    },
    close: () => {
      for (const socket of open) socket.destroy()
      server.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

const STATUSES: readonly string[] = ['passed', 'failed', 'skipped', 'todo']

/** Null for a connection on which no runner gave its name. */
export function readSecondReport(text: string, isCut = false): SecondReport | null {
  let runner: string | null = null
  let hasEnded = false
  const tests: ToldTest[] = []
  for (const line of text.split('\n')) {
    const said = parse(line)
    if (typeof said?.runner === 'string') runner ??= said.runner
    if (said?.end === true) hasEnded = true
    if (typeof said?.test === 'string' && STATUSES.includes(String(said.status)))
      tests.push({
        name: said.test,
        status: String(said.status) as ToldTest['status'],
        isParent: said.isParent === true,
        id: typeof said.id === 'string' ? said.id : null,
      })
  }
  return runner === null ? null : { runner, hasEnded: hasEnded && !isCut, tests }
}

function parse(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const found: unknown = JSON.parse(line)
    return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : null
  } catch {
    return null
  }
}
