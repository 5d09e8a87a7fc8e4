import { createHash, createPublicKey, type Hash, type KeyObject, verify } from 'node:crypto'
import { type StreamWalk, startStreamWalk } from '../verify/verify-streams.js'
import { FIRST_PREV_HASH } from '../write/chain.js'
import { checkLine, EXPORT_FORMAT, type ExportClosing, FIRST_DIGEST } from './export-format.js'

interface ExportProblem {
  /** `bad_header`, `changed_line`, `bad_order`, `closing_missing`, `bad_closing`, `bad_signature`, `after_closing` */
  readonly code: string
  readonly detail: string
  /** The first bad line, from 1. */
  readonly line: number
  readonly seq: number | null
}

interface ExportReport {
  readonly ok: boolean
  readonly events: number
  readonly streams: number
  /** `embedded`: the file is only consistent with itself; somebody who changed it could have signed it again. */
  readonly key: 'given' | 'embedded'
  readonly problem: ExportProblem | null
}

interface Walk {
  readonly hash: Hash
  readonly streams: StreamWalk
  publicKey: KeyObject | null
  digest: string
  events: number
  line: number
  isClosed: boolean
}

type Finding = Omit<ExportProblem, 'line'>

/** Checks an export with the public key alone and names the first bad line. */
export async function verifyExport(lines: AsyncIterable<string>, publicKeyPem?: string): Promise<ExportReport> {
  const walk: Walk = {
    hash: createHash('sha256'),
    streams: startStreamWalk(),
    publicKey: publicKeyPem === undefined ? null : createPublicKey(publicKeyPem),
    digest: FIRST_DIGEST,
    events: 0,
    line: 0,
    isClosed: false,
  }
  const key = publicKeyPem === undefined ? 'embedded' : 'given'
  const finish = (found: Finding | null): ExportReport => {
    const problem = found === null ? null : { ...found, line: walk.line }
    return { ok: problem === null, events: walk.events, streams: walk.streams.size, key, problem }
  }
  for await (const line of lines) {
    if (line === '' && walk.isClosed) continue
    walk.line += 1
    const found = takeLine(walk, line)
    if (found !== null) return finish(found)
  }
  if (walk.isClosed) return finish(null)
  walk.line += 1
  return finish(makeFinding('closing_missing', 'The closing line is missing: the file was cut off.'))
}

function takeLine(walk: Walk, line: string): Finding | null {
  if (walk.isClosed) return makeFinding('after_closing', 'There is more after the closing line.')
  if (walk.line === 1) return takeHeader(walk, line)
  return line.startsWith('{"closing":') ? takeClosing(walk, line) : takeEvent(walk, line)
}

function takeHeader(walk: Walk, line: string): Finding | null {
  const header = parseObject(line)
  if (header?.format !== EXPORT_FORMAT || typeof header.public_key !== 'string') {
    return makeFinding('bad_header', `The first line does not announce ${EXPORT_FORMAT} with a public key.`)
  }
  const embedded = parseKey(header.public_key)
  if (embedded === null) return makeFinding('bad_header', 'The public key of the first line cannot be read.')
  if (walk.publicKey !== null && !walk.publicKey.equals(embedded)) {
    return makeFinding('bad_header', 'The file was signed with another key than the one given.')
  }
  walk.publicKey = embedded
  walk.hash.update(`${line}\n`)
  return null
}

function takeEvent(walk: Walk, line: string): Finding | null {
  const seq = walk.events + 1
  const checked = checkLine(line, walk.digest)
  const event = checked === null ? null : parseObject(checked.text)
  if (checked === null || event === null) return makeFinding('changed_line', 'The line does not match its digest.', seq)
  const stream = String(event.stream)
  const end = walk.streams.end(stream)
  const fits =
    event.seq === seq &&
    event.version === (end?.version ?? 0) + 1 &&
    event.prev_hash === (end?.hash ?? FIRST_PREV_HASH) &&
    typeof event.hash === 'string'
  if (!fits) return makeFinding('bad_order', `Event ${seq} is missing, or it does not follow the one before it.`, seq)
  walk.hash.update(`${line}\n`)
  walk.streams.extend(stream, { version: Number(event.version), hash: String(event.hash) })
  walk.digest = checked.digest
  walk.events += 1
  return null
}

function takeClosing(walk: Walk, line: string): Finding | null {
  const parsed = parseObject(line)
  const closing = parsed?.closing as ExportClosing | undefined
  if (typeof closing !== 'object' || closing === null || typeof parsed?.signature !== 'string') {
    return makeFinding('bad_closing', 'The closing line cannot be read.')
  }
  const signature = Buffer.from(parsed.signature, 'base64')
  if (walk.publicKey === null || !verify(null, Buffer.from(JSON.stringify(closing)), walk.publicKey, signature)) {
    return makeFinding('bad_signature', 'The signature of the closing line does not match.')
  }
  const fits =
    closing.count === walk.events &&
    closing.streams === walk.streams.size &&
    closing.merkle_root === walk.streams.root() &&
    closing.sha256 === walk.hash.digest('hex')
  if (!fits)
    return makeFinding('bad_closing', `The signature covers ${closing.count} other events: lines were rewritten.`)
  walk.isClosed = true
  return null
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function parseKey(pem: string): KeyObject | null {
  try {
    return createPublicKey(pem)
  } catch {
    return null
  }
}

function makeFinding(code: string, detail: string, seq: number | null = null): Finding {
  return { code, detail, seq }
}
