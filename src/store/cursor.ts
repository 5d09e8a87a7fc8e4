/** Cursors are opaque to callers; they contain the last number of the previous page. */
export function encodeCursor(position: number): string {
  return Buffer.from(`p${position}`).toString('base64url')
}

/** Throws a RangeError for a text that is not a cursor. */
export function decodeCursor(cursor: string): number {
  const match = /^p([1-9][0-9]{0,15})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  if (match === null) throw new RangeError('the cursor is not from an earlier page')
  return Number(match[1])
}

const PAGE_MAX = 1_000

export function clampPageLimit(limit: number): number {
  return Number.isFinite(limit) ? Math.min(Math.max(Math.trunc(limit), 1), PAGE_MAX) : PAGE_MAX
}

const READ_MAX = 10_000

/** For reads that page by number: at most 10,000 events at a time, so that no caller loads the whole ledger. */
export function readLimit(limit: number): number {
  return Number.isFinite(limit) ? Math.min(Math.max(Math.trunc(limit), 0), READ_MAX) : READ_MAX
}
