import { parentPort } from 'node:worker_threads'
import { acceptDependencies, findChangedDependencies, keepDependencies } from './dependencies.js'
import { FingerprintReader } from './fingerprint.js'
import type { Asked, TreeLook } from './indexer.js'
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

function look(root: string, asked: Asked & { readonly type: 'index' }): TreeLook {
  const reader = asked.except === null ? null : new FingerprintReader(new Set(asked.except))
  const index = indexTree(root, asked, known, reader)
  return { index, fingerprint: reader?.finish() ?? null }
}

function answer(root: string, asked: Asked): unknown {
  if (known.size > KNOWN_MAX) known.clear()
  switch (asked.type) {
    case 'index':
      return look(root, asked)
    case 'keep_dependencies':
      return keepDependencies(root, asked)
    case 'dependencies_since':
      return findChangedDependencies(root, asked)
    case 'accept_dependencies':
      return acceptDependencies(root, asked)
  }
}
