import { createHash, createPublicKey, type Hash, type KeyObject, sign, verify } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { StoreRefused } from '../store.js'

/*
 * A backup is one file: a line with its format, a line of JSON about it, the parts of the ledger as compressed lines of
 * JSON, and a last line with the SHA-256 of everything before it and its signature.
 */
const MAGIC = 'phaselock-backup 1\n'
const MAGIC_START = 'phaselock-backup '
const TRAILER = /^\n([0-9a-f]{64}) ([0-9a-f]{128})\n$/
const TRAILER_BYTES = 1 + 64 + 1 + 128 + 1
const HEADER_BYTES_MAX = 64 * 1024
const LINES_PER_CHUNK = 200
const GZIP_LEVEL = 4

/** What everybody can read at the start of a backup. */
export interface BackupHeader {
  readonly created_at: string
  readonly program_version: string
  /** The number of this form of parts; a larger one is from a newer program. */
  readonly schema: number
  readonly store: 'sqlite' | 'postgres'
  /** `none`: the private keys are kept elsewhere. */
  readonly keys: 'none' | 'plain' | 'encrypted'
  readonly public_key: string
  /** Only in an archive: its name. */
  readonly archive?: string
}

/** Writes a backup to a new file. It is durable when this resolves. */
export async function writeBackupFile(
  path: string,
  about: { readonly header: BackupHeader; readonly signingKey: KeyObject },
  lines: AsyncIterable<string>,
): Promise<{ readonly sha256: string; readonly bytes: number }> {
  const file = await open(path, 'wx', 0o600)
  const hash = createHash('sha256')
  let bytes = 0
  const put = async (chunk: Buffer): Promise<void> => {
    hash.update(chunk)
    bytes += chunk.length
    await writeAll(file, chunk)
  }
  try {
    await put(Buffer.from(`${MAGIC}${JSON.stringify(about.header)}\n`))
    await pipeline(joinLines(lines), createGzip({ level: GZIP_LEVEL }), async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) await put(chunk)
    })
    const sha256 = hash.digest('hex')
    const signature = sign(null, Buffer.from(MAGIC + sha256), about.signingKey).toString('hex')
    await writeAll(file, Buffer.from(`\n${sha256} ${signature}\n`))
    await file.sync()
    return { sha256, bytes: bytes + TRAILER_BYTES }
  } finally {
    await file.close()
  }
}

async function writeAll(file: FileHandle, chunk: Buffer): Promise<void> {
  for (let done = 0; done < chunk.length; ) done += (await file.write(chunk, done)).bytesWritten
}

async function* joinLines(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let waiting: string[] = []
  for await (const line of lines) {
    waiting.push(line)
    if (waiting.length < LINES_PER_CHUNK) continue
    yield `${waiting.join('\n')}\n`
    waiting = []
  }
  if (waiting.length > 0) yield `${waiting.join('\n')}\n`
}

/** A backup whose bytes are those that its key signed. */
export interface CheckedBackup {
  readonly path: string
  readonly header: BackupHeader
  readonly publicKey: KeyObject
  readonly sha256: string
  readonly bodyStart: number
  readonly bodyEnd: number
}

/** Checks every byte of the file before anything in it is used. `trusted`: the key that must have signed it. */
export async function checkBackupFile(path: string, trusted: KeyObject | null): Promise<CheckedBackup> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const start = await readAt(file, 0, Math.min(size, HEADER_BYTES_MAX))
    const { header, bodyStart } = readHeader(start)
    const publicKey = readEmbeddedKey(header)
    if (trusted !== null && !trusted.equals(publicKey))
      throw refuseBackup('It was made by a ledger with another key than the one given')
    const bodyEnd = size - TRAILER_BYTES
    if (bodyEnd <= bodyStart) throw refuseBackup('It is cut off')
    const trailer = TRAILER.exec((await readAt(file, bodyEnd, TRAILER_BYTES)).toString('latin1'))
    if (trailer === null) throw refuseBackup('Its last line is missing or was changed: it is cut off, or not whole')
    const [, sha256 = '', signature = ''] = trailer
    const hash = createHash('sha256')
    for await (const chunk of createReadStream(path, { end: bodyEnd - 1 })) hash.update(chunk as Buffer)
    if (hash.digest('hex') !== sha256) throw refuseBackup('It was changed: its SHA-256 is not the one in its last line')
    if (!verify(null, Buffer.from(MAGIC + sha256), publicKey, Buffer.from(signature, 'hex')))
      throw refuseBackup('It was changed: its signature does not match')
    return { path, header, publicKey, sha256, bodyStart, bodyEnd }
  } finally {
    await file.close()
  }
}

/** The lines of a checked backup. Rejects at the end if the file was changed since it was checked. */
export async function* readBackupLines(checked: CheckedBackup): AsyncGenerator<string> {
  const { path, bodyStart, bodyEnd } = checked
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { end: bodyStart - 1 })) hash.update(chunk as Buffer)
  const gunzip = createGunzip()
  const carried = pipeline(createReadStream(path, { start: bodyStart, end: bodyEnd - 1 }), takeHash(hash), gunzip)
  // Awaited below; a reader that stops early leaves nobody to catch it.
  carried.catch(() => undefined)
  for await (const line of createInterface({ input: gunzip, crlfDelay: Number.POSITIVE_INFINITY })) yield line
  await carried.catch((error: Error) => {
    throw refuseBackup(`It cannot be read (${error.message})`)
  })
  if (hash.digest('hex') !== checked.sha256) throw refuseBackup('It was changed while it was read')
}

function takeHash(hash: Hash): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      done(null, chunk)
    },
  })
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  const { bytesRead } = await file.read(buffer, 0, length, position)
  return buffer.subarray(0, bytesRead)
}

function readHeader(start: Buffer): { readonly header: BackupHeader; readonly bodyStart: number } {
  const text = start.toString('latin1')
  if (!text.startsWith(MAGIC)) {
    if (text.startsWith(MAGIC_START) && /^\d+\n/.test(text.slice(MAGIC_START.length)))
      throw new StoreRefused('too_new', 'The backup has a form that this program does not know. Use a newer phaselock.')
    throw refuseBackup('It is not a backup of Phaselock')
  }
  const end = text.indexOf('\n', MAGIC.length)
  if (end < 0) throw refuseBackup('It is cut off')
  try {
    return { header: JSON.parse(text.slice(MAGIC.length, end)) as BackupHeader, bodyStart: end + 1 }
  } catch {
    throw refuseBackup('Its second line cannot be read')
  }
}

function readEmbeddedKey({ public_key: pem }: BackupHeader): KeyObject {
  try {
    return createPublicKey(pem)
  } catch {
    throw refuseBackup('It names no public key')
  }
}

export function refuseBackup(detail: string): StoreRefused {
  return new StoreRefused('tampered', `${detail}. Use another copy of the backup.`)
}
