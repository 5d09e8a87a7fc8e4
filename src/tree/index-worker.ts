import { parentPort } from 'node:worker_threads'
import { type Ignoring, indexTree } from './tree-contents.js'

interface Asked extends Ignoring {
  readonly id: number
  readonly root: string
}

const KNOWN_MAX = 1_000_000
const known = new Map<string, string>()

parentPort?.on('message', ({ id, root, rules, excludes }: Asked) => {
  try {
    if (known.size > KNOWN_MAX) known.clear()
    parentPort?.postMessage({ id, index: indexTree(root, { rules, excludes }, known) })
  } catch (error) {
    parentPort?.postMessage({ id, problem: error instanceof Error ? error.message : String(error) })
  }
})
