const HEADER = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/

/** The files that a patch in the form of `apply_patch` names, each once; none where it is no such patch. */
export function listPatchPaths(patch: string): readonly string[] {
  if (!/^\s*\*\*\* Begin Patch\s*$/m.test(patch)) return []
  const found = patch.split(/\r?\n/).flatMap((line) => HEADER.exec(line.trimEnd())?.[1] ?? [])
  return [...new Set(found)]
}
