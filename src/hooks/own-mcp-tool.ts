// As an entry of its own, and as part of the plugin: nothing else is named like that.
const OWN = /^mcp__(?:phaselock|plugin_phaselock_phaselock)__(.+)$/

/** The tool of Phaselock's own MCP server that a name stands for; null: it is another server's, or no tool of MCP. */
export function ownMcpTool(name: string): string | null {
  return OWN.exec(name)?.[1] ?? null
}
