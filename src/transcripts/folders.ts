import { join } from 'node:path'

export type TranscriptFormat = 'claude-code' | 'codex' | 'gemini'

/** A folder that transcripts may be read from, and its agent CLI. Its files are never read as anything else. */
export interface TranscriptFolder {
  readonly path: string
  readonly format: TranscriptFormat
}

/** The default transcript folders of a user's agent CLIs. */
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
