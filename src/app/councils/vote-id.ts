const SUBJECT_CHARS = 24
const RUN_ID = new RegExp(`^consensus-[0-9a-f]{${SUBJECT_CHARS}}-(.+)$`)

/** The one run that there can be over this work: whoever asks again, also after a restart, asks for the same. */
export function voteId(taskId: string, subject: string): string {
  return `consensus-${subject.slice(0, SUBJECT_CHARS)}-${taskId}`
}

/** The task whose phase a run is about; null for any other run. */
export function votedTask(runId: string): string | null {
  return RUN_ID.exec(runId)?.[1] ?? null
}
