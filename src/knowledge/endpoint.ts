import { sha256Hex } from '../base/sha256.js'
import { type Embedder, toUnitVector } from './embedder.js'

const TIMEOUT_MS = 10_000
const CHARS_MAX = 8_000
const DIMENSIONS_MAX = 8_192
const ANSWER_BYTES_MAX = 1024 * 1024

/** Any server that answers `POST …/embeddings` like OpenAI. */
export function makeEndpointEmbedder(given: {
  readonly url: string
  readonly model: string
  readonly key: string | null
}): Embedder {
  const url = `${given.url.replace(/\/+$/, '')}/embeddings`
  const place = sha256Hex(url).slice(0, 12)
  return {
    id: `${given.model}/endpoint-${place}`,
    close: async () => undefined,
    async embed(text) {
      const answer = await fetch(url, {
        method: 'POST',
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: {
          'content-type': 'application/json',
          ...(given.key === null ? {} : { authorization: `Bearer ${given.key}` }),
        },
        body: JSON.stringify({ model: given.model, input: text.slice(0, CHARS_MAX).toWellFormed() }),
      })
      if (!answer.ok) throw new Error(`the embeddings endpoint answered ${answer.status}`)
      const vector = toUnitVector(parseVector(JSON.parse(await readBoundedText(answer))))
      if (vector === null) throw new Error('the embeddings endpoint returned a zero vector')
      return vector
    },
  }
}

async function readBoundedText(answer: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of answer.body ?? []) {
    size += part.length
    if (size > ANSWER_BYTES_MAX) throw new Error(`the embeddings endpoint answered more than ${ANSWER_BYTES_MAX} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function parseVector(answer: unknown): readonly number[] {
  const data = (answer as { data?: readonly { embedding?: unknown }[] } | null)?.data
  const vector = Array.isArray(data) ? data[0]?.embedding : undefined
  const isVector =
    Array.isArray(vector) && vector.length > 0 && vector.length <= DIMENSIONS_MAX && vector.every(Number.isFinite)
  if (!isVector) throw new Error('the embeddings endpoint gave no list of numbers')
  return vector as readonly number[]
}
