import { createHash } from 'node:crypto'

/**
 * A Merkle tree over the ends of all streams, in the order in which the streams began. An odd node moves up unchanged.
 * Changing a leaf costs one path to the root, so a checkpoint over 100,000 streams stays cheap.
 */
export interface MerkleTree {
  set(index: number, leaf: Buffer): void
  root(): string
  readonly size: number
}

export function createMerkleTree(): MerkleTree {
  const levels: Buffer[][] = [[]]
  let dirty = new Set<number>()
  return {
    get size() {
      return levels[0]?.length ?? 0
    },
    set(index, leaf) {
      const leaves = levels[0] ?? []
      if (index > leaves.length) throw new RangeError(`leaf ${index} comes after ${leaves.length} leaves`)
      leaves[index] = leaf
      dirty.add(index)
    },
    root() {
      const root = raise(levels, dirty)
      dirty = new Set()
      return root.toString('hex')
    },
  }
}

function raise(levels: Buffer[][], dirtyLeaves: ReadonlySet<number>): Buffer {
  let dirty = dirtyLeaves
  let level = 0
  for (let below = levels[0] ?? []; below.length > 1; below = levels[level] ?? []) {
    levels[level + 1] ??= []
    const above = levels[level + 1] ?? []
    const parents = new Set<number>()
    for (const index of dirty) parents.add(index >> 1)
    for (const parent of parents) {
      const left = below[parent * 2]
      const right = below[parent * 2 + 1]
      if (left !== undefined) above[parent] = right === undefined ? left : hashNode(left, right)
    }
    dirty = parents
    level += 1
  }
  return levels[level]?.[0] ?? createHash('sha256').digest()
}

// Leaves and nodes begin with different bytes: a node can never be passed off as a leaf.
const LEAF = Buffer.from([0])
const NODE = Buffer.from([1])

export function streamLeaf(stream: string, version: number, hash: string): Buffer {
  return createHash('sha256')
    .update(LEAF)
    .update(JSON.stringify([stream, version, hash]))
    .digest()
}

function hashNode(left: Buffer, right: Buffer): Buffer {
  return createHash('sha256').update(NODE).update(left).update(right).digest()
}
