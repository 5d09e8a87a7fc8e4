import type { Schema } from '../../api/answers.js'

/** The diff of a work tree, of a task or of an approval. */
export type TreeDiff = Omit<Schema<'TaskDiff'>, 'task_id' | 'from' | 'to'>

export type FileDiff = Schema<'FileDiff'>
export type DiffHunk = Schema<'DiffHunk'>
