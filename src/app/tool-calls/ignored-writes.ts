import { closeSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Aside } from '../../confinement/confinement.js'
import type { JsonObject } from '../../core/json.js'
import { checkPath } from '../../tools/files/file-place.js'
import { runFileTool } from '../../tools/files/file-tools.js'
import { failTool, type ToolOutcome, type ToolPlace } from '../../tools/tool-place.js'
import { isForeign, openFile } from '../../tree/lookup.js'
import type { App } from '../app.js'
import type { TreeChange } from '../trees/tree-changes.js'
import { listWrittenPaths } from './added-bytes.js'

const NAMED_MAX = 5

/** A call of a file-writing tool, and how it treats ignored paths. */
interface ScratchWrite {
  readonly tool: string
  readonly args: JsonObject
  readonly taskId: string
  readonly place: ToolPlace
  readonly aside: Aside
  readonly change: TreeChange
}

/**
 * Writes to ignored paths like a command: to the layer of the task, which its commands see but the tree does not. Null
 * when no path of the call is ignored.
 */
export async function writeIgnored(app: App, write: ScratchWrite): Promise<ToolOutcome | null> {
  const paths = listWrittenPaths(write.args).map((given) => checkPath(given).path)
  const ignored = paths.filter((path) => write.aside(path, false) !== null)
  if (ignored.length === 0) return null
  const named = ignored.slice(0, NAMED_MAX).join(', ')
  if (ignored.length < paths.length)
    return failTool(
      `${named}: git ignores it, so it is never part of the tree. Write ignored paths in a separate call.`,
    )
  if (ignored.some((path) => write.aside(path, false) === 'dropped'))
    return failTool(
      `${named}: installed packages are read-only. Ask for them with request_dependency, or ask an operator to install (phaselock install) or to list the folder under \`writable\` of this phase.`,
    )
  const folder = join(app.stateDir, 'scratch')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const staging = mkdtempSync(join(folder, 'writing-'))
  try {
    return await writeStaged(app, write, { staging, ignored })
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

async function writeStaged(
  app: App,
  { tool, args, taskId, place, aside, change }: ScratchWrite,
  { staging, ignored }: { readonly staging: string; readonly ignored: readonly string[] },
): Promise<ToolOutcome> {
  const layer = await app.scratch.findFilesFolder(taskId)
  for (const path of ignored) stage(path, { staging, layer, root: place.root })
  const done = await runFileTool({ ...place, root: staging }, tool, args)
  if (!done.ok) return done
  const changes = done.changes.filter(({ path, type }) => type !== 'directory' || aside(path, true) !== null)
  const plan = app.scratch.plan(taskId, changes)
  if (plan === null) return done
  if (plan.dropped !== null) return failTool(plan.dropped)
  if (!(await change.stageLayer(plan, staging))) return failTool('the ignored paths could not be written')
  const note = `${ignored.slice(0, NAMED_MAX).join(', ')}: ignored. Commands of this task and read_files see it; the work tree and observed runs do not.`
  return { ok: true, result: { ...done.result, scratch: ignored.length, notes: [note] }, changes: [] }
}

// Edits and appends use the content that a command would see: the layer of earlier calls, or else the tree.
function stage(
  path: string,
  { staging, layer, root }: { readonly staging: string; readonly layer: string | null; readonly root: string },
): void {
  const left = layer === null ? null : openFile(layer, path)
  const file = left?.ok === true ? left : openFile(root, path)
  if (!file.ok) return
  try {
    if (isForeign(root, file.stat)) return
    mkdirSync(join(staging, dirname(path)), { recursive: true })
    copyFileSync(`/proc/self/fd/${file.fd}`, join(staging, path))
  } finally {
    closeSync(file.fd)
  }
}
