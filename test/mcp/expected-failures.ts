/** Scenarios of the conformance suite that ask for what a product cannot have or does not use, with the reason for each. */
const TOOL = 'calls a tool of the suite that a product does not have'
const RESOURCE = 'reads a resource of the suite that a product does not have'
const PROMPT = 'gets a prompt of the suite that a product does not have'
const LOGGING = 'logging of the protocol is deprecated and not offered'
const COMPLETION = 'completions are not offered'
const INPUT = 'calls a tool of the suite that asks the client for input; Phaselock asks operators, not clients'
const TASKS = 'tasks are an extension that is not offered'

const BOTH = {
  'completion-complete': COMPLETION,
  'tools-call-image': TOOL,
  'tools-call-audio': TOOL,
  'tools-call-embedded-resource': TOOL,
  'tools-call-mixed-content': TOOL,
  'tools-call-with-progress': TOOL,
  'resources-read-text': RESOURCE,
  'resources-read-binary': RESOURCE,
  'resources-templates-read': RESOURCE,
  'prompts-get-simple': PROMPT,
  'prompts-get-with-args': PROMPT,
  'prompts-get-embedded-resource': PROMPT,
  'prompts-get-with-image': PROMPT,
  'json-schema-2020-12': TOOL,
}

export const EXPECTED_FAILURES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '2025-11-25': {
    ...BOTH,
    'logging-set-level': LOGGING,
    'tools-call-with-logging': TOOL,
    'tools-call-sampling': INPUT,
    'tools-call-elicitation': INPUT,
    'elicitation-sep1034-defaults': INPUT,
    'elicitation-sep1330-enums': INPUT,
    'resources-subscribe': RESOURCE,
    'resources-unsubscribe': RESOURCE,
    'server-sse-polling': TOOL,
  },
  '2026-07-28': {
    ...BOTH,
    'server-stateless': 'two of its 28 checks call a tool of the suite that needs sampling',
    'input-required-result-basic-elicitation': INPUT,
    'input-required-result-basic-sampling': INPUT,
    'input-required-result-basic-list-roots': INPUT,
    'input-required-result-request-state': INPUT,
    'input-required-result-multiple-input-requests': INPUT,
    'input-required-result-multi-round': INPUT,
    'input-required-result-non-tool-request': INPUT,
    'input-required-result-result-type': INPUT,
    'input-required-result-tampered-state': INPUT,
    'input-required-result-capability-check': INPUT,
    'tasks-lifecycle': TASKS,
    'tasks-capability-negotiation': TASKS,
    'tasks-wire-fields': TASKS,
    'tasks-request-state-removal': TASKS,
    'tasks-mrtr-input': TASKS,
    'tasks-request-headers': TASKS,
    'tasks-dispatch-and-envelope': TASKS,
    'tasks-required-task-error': TASKS,
    'tasks-mrtr-composition': TASKS,
    'http-custom-header-server-validation': TOOL,
  },
}

/** What must pass, so that an empty run is not taken for success. */
export const MUST_PASS: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': [
    ...['server-initialize', 'ping', 'tools-list', 'tools-call-error', 'server-sse-multiple-streams'],
    ...['resources-list', 'prompts-list', 'dns-rebinding-protection', 'server-session-lifecycle'],
  ],
  '2026-07-28': [
    ...['tools-list', 'tools-call-error', 'server-sse-multiple-streams', 'resources-list', 'prompts-list', 'caching'],
    ...['sep-2164-resource-not-found', 'dns-rebinding-protection', 'http-header-validation'],
    ...['input-required-result-unsupported-methods', 'input-required-result-ignore-extra-params'],
  ],
}

/** The one scenario whose checks are partly expected to fail: which of them. */
export const FAILING_CHECKS: Readonly<Record<string, readonly string[]>> = {
  'server-stateless': ['sep-2575-server-rejects-undeclared-capability', 'sep-2575-missing-capability-http-400'],
}
