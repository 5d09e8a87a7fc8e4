// As a separate entry, and as part of the plugin: nothing else has such names.
const OWN = /^mcp__(?:phaselock|plugin_phaselock_phaselock)__(.+)$/

/** The tool of Phaselock's own MCP server with this name; null: another server's, or not an MCP tool. */
export function ownMcpTool(name: string): string | null {
  return OWN.exec(name)?.[1] ?? null
}
