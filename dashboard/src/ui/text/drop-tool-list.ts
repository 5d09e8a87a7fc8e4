const TOOL_LIST = /(\(not allowed in [\w-]{1,64}\)\.) Allowed: [\w-]+(?:, [\w-]+)*/g

/** A refusal for a person who skims: without the list of tools, which is for the agent. The task page has it whole. */
export function dropToolList(detail: string): string {
  // In brackets, the sentence that is left ends without a full stop.
  return detail.replace(TOOL_LIST, '$1').replaceAll(').)', '))')
}
