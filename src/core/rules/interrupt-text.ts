import { formatClock, toOneLine } from '../text.js'
import type { Violation } from './evaluate.js'
import type { RuleType } from './rule.js'

const PATTERN_CHARS_MAX = 500

const HEADERS: Readonly<Record<RuleType, string>> = {
  repeated_command: 'Repeated Command Detected',
  repeated_file_edit: 'Repeated File Edit Detected',
  phase_timeout: 'Phase Timeout Exceeded',
  token_budget: 'Token Budget Exceeded',
  require_commits: 'Commits Required',
}

/** The text an agent gets instead of the prompt. */
export function formatInterrupt(
  violation: Violation,
  about: { readonly phase: string; readonly continueWith: string },
): string {
  const { message, pattern } = violation
  return [
    `🚨 WORKFLOW INTERRUPT: ${HEADERS[violation.rule_type]}`,
    '',
    `Diagnostic: ${violation.diagnostic}`,
    ...(message === null ? [] : [`Message: ${message}`]),
    ...(pattern === null ? [] : [`Pattern: ${toOneLine(pattern, PATTERN_CHARS_MAX)}`]),
    ...violation.details,
    ...formatEventLines(violation),
    '',
    `Suggestion: ${violation.suggestion}`,
    '',
    '---',
    '',
    'REFLECT AND DECIDE:',
    '',
    'Can you resolve this issue autonomously, or do you need human assistance?',
    '',
    'If you can fix this yourself:',
    '  - Explain your corrective approach briefly',
    `  - Run: ${about.continueWith}`,
    `  - This will return the normal ${about.phase.toUpperCase()} phase prompt (bypassing rules this once)`,
    '',
    'If you need human help:',
    "  - Explain what you've tried and why you're stuck",
    '  - Wait for human guidance before proceeding',
  ].join('\n')
}

function formatEventLines(violation: Violation): readonly string[] {
  const events = violation.recent_events
  if (events.length === 0) return []
  const title = violation.rule_type === 'repeated_file_edit' ? 'Recent edits:' : 'Recent executions:'
  return [title, ...events.map((event) => `  - ${formatClock(event.at)}: ${event.text}`)]
}
