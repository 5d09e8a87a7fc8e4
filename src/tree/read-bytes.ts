import { read, readSync } from 'node:fs'
import { promisify } from 'node:util'

const readChunk = promisify(read)
const CHUNK_BYTES = 256 * 1024
const SMALL_BYTES_MAX = 64 * 1024
const small = Buffer.allocUnsafeSlow(SMALL_BYTES_MAX)

/** The first bytes of an open file, up to a maximum, even if it grows meanwhile. */
export async function readBytes(fd: number, bytesMax: number): Promise<Buffer> {
  const whole = readSmall(fd, bytesMax)
  if (whole !== null) return whole
  const chunks: Buffer[] = []
  for await (const chunk of readChunks(fd, bytesMax)) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

// At once: for most files of a project, waiting for another thread takes longer than reading. Null: it is larger.
function readSmall(fd: number, bytesMax: number): Buffer | null {
  const wanted = Math.min(SMALL_BYTES_MAX, bytesMax)
  let length = 0
  while (length < wanted) {
    const bytesRead = readSync(fd, small, length, wanted - length, length)
    if (bytesRead === 0) return Buffer.from(small.subarray(0, length))
    length += bytesRead
  }
  return length === bytesMax ? Buffer.from(small.subarray(0, length)) : null
}

/** An open file from its beginning, piece by piece. A piece is valid until the next one. */
export async function* readChunks(fd: number, bytesMax: number): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, bytesMax))
  let position = 0
  while (position < bytesMax) {
    const { bytesRead } = await readChunk(fd, buffer, 0, Math.min(buffer.length, bytesMax - position), position)
    if (bytesRead === 0) return
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}
