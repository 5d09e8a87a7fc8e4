import type { KeyObject } from 'node:crypto'
import type { Json } from '../../core/json.js'
import { toEventRow } from '../copy/ledger-part.js'
import { openPostgresSource } from '../copy/postgres-source.js'
import { readVerified } from '../copy/read-verified.js'
import { openSqliteSource } from '../copy/sqlite-source.js'
import { StoreRefused } from '../store.js'
import type { StorePlace } from '../store-place.js'
import { computeRowHash } from '../verify/verify-events.js'
import { computeErasureSeal } from './erasures.js'

const ERASED = '[erased]'
const CHARS_MIN = 6

/** An event that contains the text, and what it will be without it. */
interface FoundEvent {
  readonly seq: number
  readonly hash: string
  readonly seal: string
  readonly actor: string
  readonly data: string
}

/** Where a ledger contains a text. */
export interface FoundText {
  readonly events: readonly FoundEvent[]
  readonly tasks: readonly { readonly num: number; readonly document: string }[]
  readonly blobs: readonly string[]
  readonly answers: readonly { readonly principal: string; readonly key: string }[]
}

/** Verifies the whole ledger and finds the text in the data of events, tasks, stored contents and kept answers. */
export async function findText(place: StorePlace, key: KeyObject, text: string): Promise<FoundText> {
  if (text.trim().length < CHARS_MIN)
    throw new StoreRefused('unreadable', `A text to erase has at least ${CHARS_MIN} characters.`)
  const { dir, url } = place
  const found = { events: [] as FoundEvent[], tasks: [] as FoundText['tasks'][number][], blobs: [] as string[] }
  const answers: FoundText['answers'][number][] = []
  const contracts = new Set<string>()
  for await (const part of readVerified(dir, async () =>
    url === null ? openSqliteSource(dir) : openPostgresSource(url),
  )) {
    if (part[0] === 'event') {
      const row = toEventRow(part)
      if (row.type === 'contract_registered') contracts.add(String(JSON.parse(String(row.data)).hash))
      const data = eraseIn(String(row.data), text)
      if (data === null) continue
      const seal = computeErasureSeal(key, String(row.hash), computeRowHash(key, { ...row, data }))
      found.events.push({ seq: Number(row.seq), hash: String(row.hash), seal, actor: String(row.actor), data })
    } else if (part[0] === 'task') {
      const document = eraseIn(part[3], text)
      if (document !== null) found.tasks.push({ num: part[1], document })
    } else if (part[0] === 'blob') {
      if (Buffer.from(part[2], 'base64').includes(text)) found.blobs.push(part[1])
    } else if (eraseIn(part[5], text) !== null) answers.push({ principal: part[1], key: part[2] })
  }
  const contract = found.blobs.find((sha256) => contracts.has(sha256))
  if (contract !== undefined)
    throw new StoreRefused(
      'unreadable',
      `The text is in the contract ${contract.slice(0, 12)}, whose tasks need it word for word. Nothing was erased.`,
    )
  return { ...found, answers }
}

/** The JSON text without the text in any of its values and names; null: it is not in there. */
function eraseIn(jsonText: string, text: string): string | null {
  // Names and values are compared as they are read: a text can be escaped in several ways.
  let isFound = false
  const erase = (value: string): string => {
    if (!value.includes(text)) return value
    isFound = true
    return value.replaceAll(text, ERASED)
  }
  const visit = (value: Json): Json => {
    if (typeof value === 'string') return erase(value)
    if (Array.isArray(value)) return value.map(visit)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [erase(name), visit(inner)]))
  }
  const erased = visit(JSON.parse(jsonText) as Json)
  return isFound ? JSON.stringify(erased) : null
}
