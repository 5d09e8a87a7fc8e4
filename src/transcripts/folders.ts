import { join } from 'node:path'

export type TranscriptFormat = 'claude-code' | 'codex' | 'gemini'

/** A folder that transcripts may be read from, and whose they are. What lies in it is never read as anything else. */
export interface TranscriptFolder {
  readonly path: string
  readonly format: TranscriptFormat
}

/** Where the agents of a user keep their transcripts, unless they are told otherwise. */
export function listTranscriptFolders(
  home: string,
  moved: { readonly claudeConfigDir?: string; readonly codexHome?: string } = {},
): readonly TranscriptFolder[] {
  return [
    { path: join(moved.claudeConfigDir ?? join(home, '.claude'), 'projects'), format: 'claude-code' },
    { path: join(moved.codexHome ?? join(home, '.codex'), 'sessions'), format: 'codex' },
    { path: join(home, '.gemini', 'tmp'), format: 'gemini' },
  ]
}
