/**
 * Keys of cached answers. The first part names the kind, so that an event can refresh everything of that kind;
 * parts of one task, agent, council or contract come below its id.
 */
export const keys = {
  session: ['session'],
  inbox: ['inbox'],
  activity: ['activity'],
  status: ['status'],
  tasks: (query: object = {}) => ['tasks', query],
  task: (id: string, ...part: readonly unknown[]) => ['task', id, ...part],
  approvals: (query: object = {}) => ['approvals', query],
  approval: (id: string, ...part: readonly unknown[]) => ['approval', id, ...part],
  questions: (query: object = {}) => ['questions', query],
  agents: ['agents'],
  agent: (id: string, ...part: readonly unknown[]) => ['agent', id, ...part],
  coordinations: (query: object = {}) => ['coordinations', query],
  coordination: (id: string, ...part: readonly unknown[]) => ['coordination', id, ...part],
  contracts: ['contracts'],
  contract: (hash: string, ...part: readonly unknown[]) => ['contract', hash, ...part],
  audit: (...part: readonly unknown[]) => ['audit', ...part],
  insights: (query: object = {}) => ['insights', query],
  operators: ['operators'],
  sessions: ['sessions'],
  passkeys: ['passkeys'],
  webhooks: ['webhooks'],
  doctor: ['doctor'],
} as const
