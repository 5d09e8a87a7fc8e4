const HEADER = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/

/** The files that an `apply_patch` patch names, each once; empty for other texts. */
export function listPatchPaths(patch: string): readonly string[] {
  if (!/^\s*\*\*\* Begin Patch\s*$/m.test(patch)) return []
  const found = patch.split(/\r?\n/).flatMap((line) => HEADER.exec(line.trimEnd())?.[1] ?? [])
  return [...new Set(found)]
}
