import { parentPort } from 'node:worker_threads'
import { acceptDependencies, findChangedDependencies, keepDependencies } from './dependencies.js'
import { computeFingerprint } from './fingerprint.js'
import type { Asked } from './indexer.js'
import { indexTree } from './tree-contents.js'

const KNOWN_MAX = 1_000_000
const known = new Map<string, string>()

parentPort?.on('message', ({ id, root, asked }: { id: number; root: string; asked: Asked }) => {
  try {
    parentPort?.postMessage({ id, value: answer(root, asked) })
  } catch (error) {
    parentPort?.postMessage({ id, problem: error instanceof Error ? error.message : String(error) })
  }
})

function answer(root: string, asked: Asked): unknown {
  if (known.size > KNOWN_MAX) known.clear()
  switch (asked.type) {
    case 'index':
      return indexTree(root, asked, known)
    case 'fingerprint':
      return computeFingerprint(root, new Set(asked.except), known)
    case 'keep_dependencies':
      return keepDependencies(root, asked)
    case 'dependencies_since':
      return findChangedDependencies(root, asked)
    case 'accept_dependencies':
      return acceptDependencies(root, asked)
  }
}
