import type { Syntax } from './parse.js'
import type { Edit } from './types.js'

/** A node and everything below it, outer ones first. */
export function walk(node: Syntax): readonly Syntax[] {
  const found: Syntax[] = []
  const visit = (at: Syntax): void => {
    found.push(at)
    for (const child of at.children) visit(child)
  }
  visit(node)
  return found
}

export function getField(node: Syntax | null | undefined, name: string): Syntax | null {
  return node?.children.find((child) => child.field === name) ?? null
}

export function listNamedChildren(node: Syntax | null | undefined): readonly Syntax[] {
  return (node?.children ?? []).filter((child) => child.isNamed && !/comment/.test(child.type))
}

/** The nearest surrounding node of one of the types. */
export function findAround(node: Syntax, types: readonly string[]): Syntax | null {
  for (let around = node.parent; around !== null; around = around.parent) if (types.includes(around.type)) return around
  return null
}

const VARIABLE = /^(?:identifier|member_expression|subscript_expression|attribute|subscript)$/

/** Whether two expressions are the same call, variable or property: comparing them says nothing. */
export function areSame(one: Syntax | null | undefined, other: Syntax | null | undefined): boolean {
  if (one == null || other == null || one.text.replace(/\s+/g, '') !== other.text.replace(/\s+/g, '')) return false
  if (VARIABLE.test(one.type)) return true
  const call = /^await/.test(one.type) ? listNamedChildren(one)[0] : one
  const callee = /^call(?:_expression)?$/.test(call?.type ?? '') ? getField(call, 'function') : null
  return callee?.type === 'identifier' && /^[a-z_$]/.test(callee.text)
}

export function insert(at: number, text: string): Edit {
  return { start: at, end: at, text }
}

export function replace(node: Syntax, text: string): Edit {
  return { start: node.start, end: node.end, text }
}

export function wrap(node: Pick<Syntax, 'start' | 'end'>, before: string, after: string): readonly Edit[] {
  return [insert(node.start, before), { ...insert(node.end, after), closes: true }]
}

export function cut(start: number, end: number): Edit {
  return { start, end, text: '' }
}

function countLines(text: string): number {
  return text.split('\n').length - 1
}

/** Applies edits and keeps the number of lines before each place: lines that an edit removes are added after it. */
export function applyEdits(source: string, edits: readonly Edit[]): string {
  const ordered = edits.map((edit, place) => ({ edit, place })).sort(comparePlaces)
  let out = ''
  let at = 0
  for (const { edit } of ordered) {
    const removed = countLines(source.slice(edit.start, edit.end)) - countLines(edit.text)
    out += source.slice(at, edit.start) + edit.text + '\n'.repeat(Math.max(0, removed))
    at = edit.end
  }
  return out + source.slice(at)
}

interface PlacedEdit {
  readonly edit: Edit
  readonly place: number
}

function comparePlaces(a: PlacedEdit, b: PlacedEdit): number {
  const byPosition = a.edit.start - b.edit.start || a.edit.end - b.edit.end
  if (byPosition !== 0) return byPosition
  if (a.edit.closes !== b.edit.closes) return a.edit.closes === true ? -1 : 1
  return a.edit.closes === true ? b.place - a.place : a.place - b.place
}

/** Whether two edits change the same characters. Insertions at the edge of a replacement do not. */
export function isOverlapping(a: Edit, b: Edit): boolean {
  return a.start < b.end && b.start < a.end
}
