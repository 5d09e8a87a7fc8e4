import { createHash } from 'node:crypto'
import { isObject, type Json } from '../core/json.js'
import type { HookFact, ToolHook } from './hook-message.js'
import { listPatchPaths } from './patch-paths.js'
import { resolveTreePath } from './tree-path.js'

const PATHS_MAX = 100
const PATH_CHARS_MAX = 4096

export function toFact(hook: ToolHook, tree: string): HookFact {
  const { command: line } = hook.input
  const command = hook.tool === 'Bash' && typeof line === 'string' ? line : null
  const named = hook.tool === 'Bash' ? listChangedFiles(hook.response) : listEditedFiles(hook)
  const paths = [...new Set(named.map((path) => formatPath(path, hook.cwd, tree)))].slice(0, PATHS_MAX)
  return {
    tool: hook.tool,
    command,
    paths,
    success: hook.success,
    durationMs: hook.durationMs === null ? null : Math.round(hook.durationMs),
    // Without the content, one id for all calls would hide every loop.
    factId:
      hook.toolUseId === null
        ? null
        : `${hook.toolUseId} ${hashValue([hook.tool, line ?? null, listEditedFiles(hook)])}`,
  }
}

function listEditedFiles({ tool, input }: ToolHook): readonly string[] {
  const path = EDITORS.get(tool)
  if (path === undefined) return []
  const value = input[path]
  if (typeof value !== 'string') return []
  return tool === 'apply_patch' ? listPatchPaths(value) : [value]
}

const EDITORS: ReadonlyMap<string, string> = new Map([
  ['Edit', 'file_path'],
  ['Write', 'file_path'],
  ['MultiEdit', 'file_path'],
  ['NotebookEdit', 'notebook_path'],
  ['apply_patch', 'command'],
])

function listChangedFiles(response: Json): readonly string[] {
  const diff = isObject(response) ? response.bashEditDiff : null
  const files = isObject(diff) ? diff.changedFiles : null
  if (!Array.isArray(files)) return []
  return files.slice(0, PATHS_MAX).flatMap((file: Json) => {
    const path = isObject(file) ? (file.filePath ?? file.file_path ?? file.path) : file
    return typeof path === 'string' ? [path] : []
  })
}

// It already happened: a path that would be refused is still a path that was edited.
function formatPath(given: string, cwd: string, tree: string): string {
  const short = given.slice(0, PATH_CHARS_MAX).replaceAll('\0', '\ufffd')
  const read = resolveTreePath(short, { cwd, tree })
  return read.ok ? read.path : short
}

function hashValue(value: Json): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22)
}
