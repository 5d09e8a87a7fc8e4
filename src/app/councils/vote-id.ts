const SUBJECT_CHARS = 24
const RUN_ID = new RegExp(`^consensus-[0-9a-f]{${SUBJECT_CHARS}}-(.+)$`)

/** The only council there can be for this work. Asking again, even after a restart, gives the same id. */
export function voteId(taskId: string, subject: string): string {
  return `consensus-${subject.slice(0, SUBJECT_CHARS)}-${taskId}`
}

/** The task whose phase the council votes on; null for other councils. */
export function findVotedTask(runId: string): string | null {
  return RUN_ID.exec(runId)?.[1] ?? null
}
