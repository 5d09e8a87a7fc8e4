import { parentPort } from 'node:worker_threads'
import { type IgnoreText, indexTree } from './tree-contents.js'

interface Asked {
  readonly id: number
  readonly root: string
  readonly rules: readonly IgnoreText[] | null
}

const KNOWN_MAX = 1_000_000
const known = new Map<string, string>()

parentPort?.on('message', ({ id, root, rules }: Asked) => {
  try {
    if (known.size > KNOWN_MAX) known.clear()
    parentPort?.postMessage({ id, index: indexTree(root, rules, known) })
  } catch (error) {
    parentPort?.postMessage({ id, problem: error instanceof Error ? error.message : String(error) })
  }
})
