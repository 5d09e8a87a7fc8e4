import type { TreeStep } from '../tree/steps.js'
import { openTreeWriter } from '../tree/tree-writer.js'

/** A file as the command is to see it; `content: null`: there is none. */
export interface ComposedFile {
  readonly path: string
  readonly content: Buffer | null
  /** In place of a content: where a link leads. */
  readonly link?: string
}

/** Puts and removes files in the view of a command before it starts. The tree itself stays as it is. */
export async function composeView(view: string, files: readonly ComposedFile[]): Promise<void> {
  if (files.length === 0) return
  const writer = openTreeWriter(view)
  for (const { path } of files) {
    const cleared = await writer.commit([{ type: 'delete', path, isRecursive: true }])
    if (!cleared.ok && cleared.problem !== 'missing') throw new Error(`${path} cannot be composed (${cleared.problem})`)
  }
  const steps = files.flatMap(({ path, content, link }): readonly TreeStep[] => {
    if (link !== undefined) return [{ type: 'make_link', path, target: link }]
    return content === null ? [] : [{ type: 'write', path, content }]
  })
  if (steps.length === 0) return
  const put = await writer.commit(steps)
  if (!put.ok) throw new Error(`${put.path} cannot be composed (${put.problem})`)
}
