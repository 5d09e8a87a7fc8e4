import { read } from 'node:fs'
import { promisify } from 'node:util'

const readChunk = promisify(read)
const CHUNK_BYTES = 256 * 1024

/** The first bytes of an open file, up to a maximum, even if it grows meanwhile. */
export async function readBytes(fd: number, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of readChunks(fd, bytesMax)) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
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
