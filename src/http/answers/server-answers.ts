import {
  allowNull,
  COUNT,
  chooseWord,
  FLAG,
  makeList,
  makeMap,
  makeObject,
  nameObject,
  TEXT,
  TIME,
  TRUE,
} from './schema-parts.js'

export const WEBHOOKS = makeObject({
  webhooks: makeList(
    nameObject('Webhook', {
      url: TEXT,
      events: makeList(TEXT),
      problem: allowNull(TEXT),
      last_deliveries: makeList(
        nameObject('Delivery', {
          at: TIME,
          event: TEXT,
          seq: COUNT,
          status: chooseWord('delivered', 'retrying', 'failed'),
          attempts: COUNT,
          error: allowNull(TEXT),
        }),
      ),
    }),
  ),
})

export const NODES = makeObject({
  nodes: makeList(
    nameObject('Node', {
      id: TEXT,
      own: { ...FLAG, description: 'The server that was asked.' },
      alive: FLAG,
      url: allowNull(TEXT),
      program_version: TEXT,
      started_at: TIME,
      seen_at: TIME,
      shared_trees: {
        ...allowNull(makeObject({ id: TEXT, folder: TEXT })),
        description: 'Where it keeps what it knows about work trees that nodes share; null: in its state directory.',
      },
    }),
  ),
})

export const ADOPTED_NODE = makeObject({ node: TEXT, adopted_by: TEXT, streams: COUNT })

export const SERVER_CHECKS = makeObject({
  checks: makeList(
    nameObject('ServerCheck', {
      name: TEXT,
      status: chooseWord('ok', 'warning', 'problem'),
      detail: TEXT,
      remedy: TEXT,
    }),
  ),
})

export const CONTRACT_TEXT = nameObject('ContractText', { hash: TEXT, text: TEXT, origin: TEXT })

export const CONTRACT_GRAPH = nameObject('ContractGraph', {
  hash: TEXT,
  phases: makeList(makeObject({ id: TEXT, name: TEXT })),
  transitions: makeList(
    makeObject({
      from: TEXT,
      to: TEXT,
      gate: allowNull(TEXT),
      when: allowNull(TEXT),
      gates: makeList(TEXT),
      kind: chooseWord('forward', 'back'),
    }),
  ),
  counts: makeMap(COUNT),
  waiting: makeMap(COUNT),
  truncated: FLAG,
})

export const TRUSTED_CONTRACT = makeObject({ hash: TEXT, name: TEXT, version: TEXT, trusted: TRUE })
