import type { Contract } from '../../core/contract/contract.js'
import { listPermissions, PERMISSION_KINDS } from '../../core/contract/contract-permissions.js'
import type { Json } from '../../core/json.js'
import { plainLine } from '../../core/plain-text.js'

const SANDBOX_LINES_MAX = 10
const TEXT_CHARS_MAX = 160
const CHANGES_MAX = 100
const DEPTH_MAX = 32
const KIND_WIDTH = Math.max(...PERMISSION_KINDS.map((kind) => kind.length))

/**
 * The permissions that a contract asks for, one line each, for the person who decides. Only those inside the sandbox
 * are shortened.
 */
export function formatPermissionLines(contract: Contract): readonly string[] {
  const all = listPermissions(contract)
  return PERMISSION_KINDS.flatMap((kind) => {
    const asked = all.filter((permission) => permission.kind === kind)
    const beyond = asked.filter(({ reach }) => reach !== 'sandbox').map(({ text }) => plainLine(text))
    const inside = asked.filter(({ reach }) => reach === 'sandbox').map(({ text }) => shortenText(text))
    const lines = [...beyond, ...inside.slice(0, SANDBOX_LINES_MAX)]
    if (inside.length > SANDBOX_LINES_MAX) lines.push(`and ${inside.length - SANDBOX_LINES_MAX} more in the sandbox`)
    if (lines.length === 0) lines.push('none')
    return lines.map((text, index) => `${(index === 0 ? kind : '').padEnd(KIND_WIDTH)}  ${text}`)
  })
}

/** The differences between two contracts: the path in the document, the old value and the new one. */
export function listDocumentChanges(before: Json, after: Json): readonly string[] {
  const changes: string[] = []
  compare({ before, after, path: '', depth: 0 }, changes)
  if (changes.length <= CHANGES_MAX) return changes
  return [...changes.slice(0, CHANGES_MAX), `and ${changes.length - CHANGES_MAX} more`]
}

interface ComparedValue {
  readonly before: Json | undefined
  readonly after: Json | undefined
  readonly path: string
  readonly depth: number
}

function compare({ before, after, path, depth }: ComparedValue, changes: string[]): void {
  if (JSON.stringify(before) === JSON.stringify(after)) return
  if (!isTree(before) || !isTree(after) || depth >= DEPTH_MAX) {
    changes.push(shortenText(`${path}: ${formatValue(before)} -> ${formatValue(after)}`))
    return
  }
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
    compare(
      {
        before: Object.hasOwn(before, key) ? before[key] : undefined,
        after: Object.hasOwn(after, key) ? after[key] : undefined,
        path: path === '' ? key : `${path}.${key}`,
        depth: depth + 1,
      },
      changes,
    )
}

function isTree(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null
}

function formatValue(value: Json | undefined): string {
  return value === undefined ? 'nothing' : JSON.stringify(value)
}

function shortenText(text: string): string {
  const line = plainLine(text)
  return line.length > TEXT_CHARS_MAX ? `${line.slice(0, TEXT_CHARS_MAX)}…` : line
}
