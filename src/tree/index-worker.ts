import { parentPort, workerData } from 'node:worker_threads'
import { acceptDependencies, findChangedDependencies, keepDependencies } from './dependencies.js'
import { FingerprintReader } from './fingerprint.js'
import type { Asked, TreeLook } from './indexer.js'
import { TreeMissing } from './problems.js'
import { ProjectFilesReader } from './project-files.js'
import { StampWriter } from './stamps.js'
import { indexTree, KnownContents, type TreeIndex } from './tree-contents.js'

const KNOWN_MAX = 1_000_000
const { pattern } = workerData as { readonly pattern: string | null }
const read = (): KnownContents => new KnownContents(pattern === null ? null : new RegExp(pattern))
let known = read()

parentPort?.on('message', ({ id, root, asked }: { id: number; root: string; asked: Asked }) => {
  try {
    parentPort?.postMessage({ id, value: answer(root, asked) })
  } catch (error) {
    const missing = error instanceof TreeMissing ? error.code : undefined
    parentPort?.postMessage({ id, problem: error instanceof Error ? error.message : String(error), missing })
  }
})

function look(root: string, asked: Asked & { readonly type: 'index' }): TreeLook {
  const fingerprint = asked.except === null ? null : new FingerprintReader(new Set(asked.except))
  const stamps = asked.stamps ? new StampWriter() : null
  const files = asked.files ? new ProjectFilesReader() : null
  const index = indexTree(root, asked, known, { fingerprint, stamps, files })
  return {
    index,
    fingerprint: fingerprint?.finish() ?? null,
    stamps: stamps?.finish() ?? null,
    files: files?.finish() ?? null,
    noted: listNoted(index),
  }
}

function listNoted({ entries }: TreeIndex): readonly string[] {
  return Object.keys(entries).filter((path) => {
    const entry = entries[path] ?? ''
    return entry.startsWith('file ') && known.noted.has(entry.slice('file '.length))
  })
}

function answer(root: string, asked: Asked): unknown {
  if (known.hashes.size > KNOWN_MAX) known = read()
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
