import { sha256Hex } from '../../base/sha256.js'
import { AGENT_CLI_FILES, type AgentCliFile, findSettingsProblem } from '../../core/paths/agent-cli-files.js'
import type { Difference, TreeIndex } from '../../tree/tree-contents.js'
import { openWorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import { findContentByHash, keepPrevious } from './reconcile.js'

/** Stores the current content of such files, to compare their next change with. */
export async function keepAgentCliFiles(app: App, tree: string): Promise<void> {
  await keepPrevious(app, tree, [...AGENT_CLI_FILES.keys()])
}

export type UnledgeredChange = Difference & { readonly agentCli?: AgentCliFile }

/** The differences; files that an agent CLI writes for itself are listed with the effect of their change. */
export async function judgeAgentCliFiles(
  app: App,
  tree: string,
  { differences, index }: { readonly differences: readonly Difference[]; readonly index: TreeIndex },
): Promise<readonly UnledgeredChange[]> {
  const judged: UnledgeredChange[] = []
  for (const one of differences) {
    const cli = AGENT_CLI_FILES.get(one.path)
    if (cli === undefined) judged.push(one)
    else judged.push({ ...one, agentCli: { cli, problem: await findProblem(app, tree, { path: one.path, index }) } })
  }
  if (judged.some((change) => change.agentCli !== undefined)) await keepAgentCliFiles(app, tree)
  return judged
}

async function findProblem(
  app: App,
  tree: string,
  { path, index }: { readonly path: string; readonly index: TreeIndex },
): Promise<string | null> {
  const before = await readTextBefore(app, tree, path)
  const after = await readTextNow(tree, { path, entry: index.entries[path] })
  if (before === undefined) return 'had content that was not recorded'
  return after === undefined ? 'cannot be read as a file' : findSettingsProblem(before, after)
}

// Undefined: it exists but cannot be read.
async function readTextBefore(app: App, tree: string, path: string): Promise<string | null | undefined> {
  if (app.trees.findExpectedEntry(tree, path) === null) return null
  const sha256 = app.trees.findExpectedHash(tree, path)
  if (sha256 === null) return undefined
  return (await findContentByHash(app, { tree, path, sha256 }))?.toString('utf8')
}

async function readTextNow(
  tree: string,
  { path, entry }: { readonly path: string; readonly entry: string | undefined },
): Promise<string | null | undefined> {
  if (entry === undefined) return null
  const content = await openWorkTree(tree).read(path)
  // Judge the content that was read: the file may be written again at any time.
  return content !== null && entry === `file ${sha256Hex(content)}` ? content.toString('utf8') : undefined
}
