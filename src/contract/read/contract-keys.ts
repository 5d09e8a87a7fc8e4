/** Keys of a contract that mean the same whether its phases are written in YAML or in documents. */
export const COMMON_KEYS: readonly string[] = [
  'commands',
  'mcp_servers',
  'tools',
  'agents',
  'enforcement',
  'tests',
  'web',
  'agent_startable',
  'guides',
  'recovery',
  'monitoring',
  'webhooks',
  'knowledge',
  'coordination',
  'schemas',
  'schemas_dir',
]
