import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/core/json.js'
import { compileRule } from '../../../src/core/rules/rule.js'

const base = {
  id: 'CODE[0]',
  message: null,
  suggestion: null,
  onViolation: 'interrupt',
  unlessProgress: false,
  shadow: false,
}

describe('compiled rules', () => {
  it.each<[JsonObject, JsonObject]>([
    [
      { type: 'repeated_command', threshold: 3, window: 60 },
      { ...base, type: 'repeated_command', pattern: null, threshold: 3, window: 60 },
    ],
    [
      { type: 'repeated_command', pattern: 'p', path_pattern: 'q', threshold: 1, window: 1 },
      { ...base, type: 'repeated_command', pattern: 'p', threshold: 1, window: 1 },
    ],
    [
      { type: 'repeated_file_edit', pattern: 'q', path_pattern: 'p', threshold: 3, window: 60, message: null },
      { ...base, type: 'repeated_file_edit', pattern: 'p', threshold: 3, window: 60 },
    ],
    [
      { type: 'phase_timeout', max_duration: 5, message: 'm', suggestion: 's', on_violation: 'deny' },
      { ...base, type: 'phase_timeout', maxDuration: 5, message: 'm', suggestion: 's', onViolation: 'deny' },
    ],
    [
      { type: 'token_budget', max_tokens: 5, on_violation: 'park', unless_progress: true, shadow: true },
      { ...base, type: 'token_budget', maxTokens: 5, onViolation: 'park', unlessProgress: true, shadow: true },
    ],
    [
      { type: 'require_commits', lookback_phases: 2, on_violation: 'interrupt' },
      { ...base, type: 'require_commits', lookbackPhases: 2 },
    ],
  ])('[REQ-RULE-19] %j becomes a rule', (source, expected) => {
    expect(compileRule('CODE[0]', source)).toEqual(expected)
  })

  it.each<[JsonObject, string]>([
    [{ type: 'nonsense' }, 'rule CODE[0]: the type "nonsense" is not known'],
    [{}, 'rule CODE[0]: the type undefined is not known'],
    [{ type: 'token_budget' }, 'rule CODE[0]: max_tokens is not a positive integer'],
    [{ type: 'token_budget', max_tokens: '5' }, 'rule CODE[0]: max_tokens is not a positive integer'],
    [{ type: 'token_budget', max_tokens: 0 }, 'rule CODE[0]: max_tokens is not a positive integer'],
    [{ type: 'phase_timeout', max_duration: 1.5 }, 'rule CODE[0]: max_duration is not a positive integer'],
    [{ type: 'require_commits', lookback_phases: -1 }, 'rule CODE[0]: lookback_phases is not a positive integer'],
    [{ type: 'repeated_command', threshold: 1 }, 'rule CODE[0]: window is not a positive integer'],
    [{ type: 'repeated_file_edit', window: 1 }, 'rule CODE[0]: threshold is not a positive integer'],
    [{ type: 'token_budget', max_tokens: 5, message: 5 }, 'rule CODE[0]: a text field is not a string'],
    [{ type: 'token_budget', max_tokens: 5, suggestion: [] }, 'rule CODE[0]: a text field is not a string'],
    [{ type: 'token_budget', max_tokens: 5, shadow: 'yes' }, 'rule CODE[0]: a flag is neither true nor false'],
    [{ type: 'token_budget', max_tokens: 5, on_violation: 'x' }, 'rule CODE[0]: on_violation is not known'],
  ])('[REQ-RULE-19] %j is a fault and not a weaker rule', (source, message) => {
    expect(() => compileRule('CODE[0]', source)).toThrow(new Error(message))
  })
})
