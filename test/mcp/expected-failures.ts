/** Scenarios of the conformance suite that ask for what Phaselock does not offer, with the reason for each. */
const TASKS = 'tasks are an extension that is not offered'

export const EXPECTED_FAILURES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '2025-11-25': {},
  '2026-07-28': {
    'server-stateless':
      'one of its 28 checks: calls are answered by a stream, which has begun with status 200 when a tool wants to ask the client; no tool of Phaselock asks clients',
    'http-custom-header-server-validation':
      'no tool has parameters in headers: `x-mcp-header` is taken out of the schemas of upstream tools',
    'tasks-lifecycle': TASKS,
    'tasks-capability-negotiation': TASKS,
    'tasks-wire-fields': TASKS,
    'tasks-request-state-removal': TASKS,
    'tasks-mrtr-input': TASKS,
    'tasks-request-headers': TASKS,
    'tasks-dispatch-and-envelope': TASKS,
    'tasks-required-task-error': TASKS,
    'tasks-mrtr-composition': TASKS,
  },
}

/** What must pass, so that an empty run is not taken for success. */
export const MUST_PASS: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': [
    ...['server-initialize', 'ping', 'tools-list', 'tools-call-error', 'server-sse-multiple-streams'],
    ...['resources-list', 'prompts-list', 'dns-rebinding-protection', 'server-session-lifecycle'],
    ...['tools-call-sampling', 'tools-call-elicitation', 'tools-call-with-progress', 'tools-call-with-logging'],
    ...['resources-subscribe', 'resources-templates-read', 'prompts-get-with-image', 'completion-complete'],
  ],
  '2026-07-28': [
    ...['tools-list', 'tools-call-error', 'server-sse-multiple-streams', 'resources-list', 'prompts-list', 'caching'],
    ...['sep-2164-resource-not-found', 'dns-rebinding-protection', 'http-header-validation'],
    ...['input-required-result-unsupported-methods', 'input-required-result-ignore-extra-params'],
    ...['input-required-result-tampered-state', 'input-required-result-multi-round', 'json-schema-2020-12'],
  ],
}

/** The one scenario whose checks are partly expected to fail: which of them. */
export const FAILING_CHECKS: Readonly<Record<string, readonly string[]>> = {
  'server-stateless': ['sep-2575-missing-capability-http-400'],
}
