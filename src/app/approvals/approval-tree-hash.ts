import { sha256Hex } from '../../base/sha256.js'
import { AGENT_CLI_FILES } from '../../core/paths/agent-cli-files.js'
import { requireFingerprint } from '../../tree/fingerprint.js'
import { NOT_THE_PROJECT } from '../../tree/work-tree.js'
import type { Resources } from '../resources.js'
import type { TreeComparison } from '../trees/trees.js'

// Python writes these files wherever it runs; observed runs do not load them.
const COMPILED = /\.pyc$/

/**
 * The work tree hash that approvals and reviews are bound to. Build output counts where git would commit it, so that
 * nobody can change it after the review. Files that agent CLIs write for themselves do not count.
 */
export async function hashApprovalTree(app: Pick<Resources, 'trees'>, workspace: string): Promise<string> {
  return hashComparedTree(await app.trees.compare(workspace, { except: AGENT_CLI_FILES.keys() }))
}

/** The same of a tree that was compared with its fingerprint, except the files of agent CLIs. */
export function hashComparedTree({ index, fingerprint }: Pick<TreeComparison, 'index' | 'fingerprint'>): string {
  const project = requireFingerprint(fingerprint)
  const beside = Object.entries(index.entries).filter(([path]) => isLeftOut(path) && !COMPILED.test(path))
  if (beside.length === 0) return project
  const entries = beside.sort(([a], [b]) => (a < b ? -1 : 1))
  return sha256Hex(JSON.stringify([project, entries]))
}

function isLeftOut(path: string): boolean {
  const [first = '', ...rest] = path.split('/')
  const { anywhere, atRoot } = NOT_THE_PROJECT
  return rest.length > 0 && (atRoot.has(first) || [first, ...rest].some((name) => anywhere.has(name)))
}
