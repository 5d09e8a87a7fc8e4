/** A workflow of two phases that an agent can start and finish alone. */
export const SMALL = `
name: small
version: "1"
agent_startable: true
enforcement: { confinement: off, reconcile: off }
phases:
  - id: NOTE
    name: Note
    prompt: Write note.txt.
    allowed_tools: [write_files]
    tool_constraints: { write_files: { allowed_patterns: [note.txt] } }
    checkpoint: { evidence: { words: { type: integer, min: 1, description: words written } } }
    gates:
      - id: written
        type: validation
        blockers: [{ check: file_exists, path: note.txt, severity: blocking, message: The note must be there }]
  - id: READ
    name: Read
    prompt: Read it again.
    allowed_tools: [read_files]
    checkpoint: { evidence: { text: { type: string, min_length: 1, description: what it says } } }
transitions:
  - { from: NOTE, to: READ, gate: written }
`

export interface Step {
  readonly tool: string
  readonly args: Record<string, unknown>
  /** The code of the refusal that this step must meet; absent: it must work. */
  readonly refused?: string
}

/** All of it, with what is tried too early. */
export const STEPS: readonly Step[] = [
  { tool: 'start_workflow', args: { workflow_type: 'small', target_file: 'note.txt' } },
  { tool: 'read_files', args: { path: 'note.txt' }, refused: 'forbidden_tool' },
  { tool: 'get_phase_content', args: { phase: 'READ' }, refused: 'phase_sequence_violation' },
  { tool: 'complete_phase', args: { phase: 'NOTE', evidence: { words: 2 } }, refused: 'check_failed' },
  { tool: 'write_files', args: { path: 'note.txt', content: 'two words\n' } },
  { tool: 'complete_phase', args: { phase: 'NOTE', evidence: { words: 2 } } },
  { tool: 'write_files', args: { path: 'note.txt', content: 'other words\n' }, refused: 'forbidden_tool' },
  { tool: 'read_files', args: { path: 'note.txt' } },
  { tool: 'complete_phase', args: { phase: 'READ', evidence: { text: 'two words' } } },
]
