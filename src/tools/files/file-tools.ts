import type { JsonObject } from '../../core/json.js'
import { failTool, type ToolOutcome, type ToolPlace } from '../tool-place.js'
import { editFiles } from './edit-files.js'
import { listFilesByGlob } from './glob-files.js'
import { grepFiles } from './grep-files.js'
import { readFiles } from './read-files.js'
import { searchCodebase } from './search-codebase.js'
import { writeFiles } from './write-files.js'

type FileTool = (place: ToolPlace, args: JsonObject) => Promise<ToolOutcome>

const TOOLS: ReadonlyMap<string, FileTool> = new Map([
  ['read_files', readFiles],
  ['write_files', writeFiles],
  ['edit_files', editFiles],
  ['glob', listFilesByGlob],
  ['grep', grepFiles],
  ['search_codebase', searchCodebase],
])
const WRITERS: ReadonlySet<string> = new Set(['write_files', 'edit_files'])

export function isWriteTool(tool: string): boolean {
  return WRITERS.has(tool)
}

/** Runs a tool that works on files without a command. */
export async function runFileTool(place: ToolPlace, tool: string, args: JsonObject): Promise<ToolOutcome> {
  const run = TOOLS.get(tool)
  return run === undefined ? failTool(`${tool} is known here, and nothing runs it`) : run(place, args)
}
