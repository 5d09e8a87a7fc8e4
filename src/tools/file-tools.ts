import type { JsonObject } from '../core/contract.js'
import { failed, type ToolOutcome, type ToolPlace } from './port.js'

const WRITERS: ReadonlySet<string> = new Set(['write_files', 'edit_files'])

export function isWriteTool(tool: string): boolean {
  return WRITERS.has(tool)
}

/** Runs one of the tools that work on files without a command. */
export async function fileTool(place: ToolPlace, tool: string, args: JsonObject): Promise<ToolOutcome> {
  void place
  void args
  return failed(`${tool} cannot be run in this version`)
}
