import { closeSync } from 'node:fs'
import { openParent } from '../../tree/lookup.js'
import { TREE_PROBLEMS } from '../../tree/problems.js'
import { removeWhole } from '../../tree/write/remove-whole.js'
import { openTreeWriter } from '../../tree/write/tree-writer.js'
import type { Composition, ViewEntry } from '../confinement.js'

/** The requested view of a command cannot be made: the command is not run. */
export class ViewRefused extends Error {
  override readonly name = 'ViewRefused'
}

/** Makes a view differ from its tree as requested. The command has not started, so nothing else writes to the view. */
export async function composeView(view: string, { put, leftOut }: Composition): Promise<void> {
  for (const path of leftOut) await leaveOut(view, path)
  // A folder or a link in place of a file is removed first.
  for (const entry of put) await leaveOut(view, entry.path)
  const done = await openTreeWriter(view).commit(put.map(toStep))
  if (!done.ok) throw new ViewRefused(`${done.path} ${TREE_PROBLEMS[done.problem]}`)
}

// By descriptors: another process may replace folders of the tree by links meanwhile.
async function leaveOut(view: string, path: string): Promise<void> {
  const parent = openParent(view, path)
  if (!parent.ok && GONE.has(parent.problem)) return
  if (!parent.ok) throw new ViewRefused(`${parent.path} ${TREE_PROBLEMS[parent.problem]}`)
  try {
    if (!(await removeWhole(parent.fd, parent.name))) throw new ViewRefused(`${path} cannot be left out`)
  } finally {
    closeSync(parent.fd)
  }
}

// There is nothing below a path that is gone or not a folder.
const GONE: ReadonlySet<string> = new Set(['missing', 'not_a_directory'])

function toStep(entry: ViewEntry) {
  const { path } = entry
  return entry.type === 'link'
    ? ({ type: 'make_link', path, target: entry.target } as const)
    : ({ type: 'write', path, content: entry.content, mode: entry.mode } as const)
}
