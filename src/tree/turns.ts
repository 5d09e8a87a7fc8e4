const turns = new Map<string, Promise<void>>()

/** Runs work on one tree after the other: what is read, changed and written back is not overtaken by another call of this process. */
export async function runInTurn<T>(root: string, work: () => Promise<T>): Promise<T> {
  const before = turns.get(root) ?? Promise.resolve()
  const mine = before.then(work)
  const settled = mine.then(
    () => undefined,
    () => undefined,
  )
  turns.set(root, settled)
  try {
    return await mine
  } finally {
    if (turns.get(root) === settled) turns.delete(root)
  }
}
