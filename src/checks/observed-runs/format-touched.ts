const TOUCHED_NAMED_MAX = 5

/** Files that changed during a run, and perhaps changed back: the run does not belong to the recorded tree. */
export function formatTouched(touched: readonly string[]): readonly string[] {
  if (touched.length === 0) return []
  const more = touched.length > TOUCHED_NAMED_MAX ? ` and ${touched.length - TOUCHED_NAMED_MAX} more` : ''
  return [
    `Files changed while the commands ran: ${touched.slice(0, TOUCHED_NAMED_MAX).join(', ')}${more}. Request the transition again`,
  ]
}
