interface CodeText {
  readonly title: string
  readonly remedy: string
}

/** Every code that Phaselock answers with. Codes never change their meaning; docs/errors.md has a heading for each. */
export const CODES = {
  invalid_request: {
    title: 'The request does not have the right shape',
    remedy: 'Correct the named field and send the request again.',
  },
  unknown_phase: { title: 'The contract has no such phase', remedy: 'Use one of the phases that the contract names.' },
  no_transition: {
    title: 'The contract has no such transition',
    remedy: 'Request one of the listed transitions.',
  },
  tool_failed: { title: 'The tool ran and failed', remedy: 'Read the detail, change the arguments and call it again.' },
  sandbox_unavailable: {
    title: 'The sandbox is being started again',
    remedy:
      'Call the tool again in a few seconds, with a new Idempotency-Key. If it lasts, an operator runs `phaselock doctor` and restarts the server.',
  },
  outcome_unknown: {
    title: 'The call was interrupted, and what it did is not known',
    remedy: 'Look at what it was to change, then go on, or call again with a new Idempotency-Key.',
  },
  invalid_regex: {
    title: 'The regular expression is not valid',
    remedy: 'Use RE2 syntax: no look-around, no back-references.',
  },
  token_missing: { title: 'No token was sent', remedy: 'Send the token as "Authorization: Bearer …".' },
  token_invalid: {
    title: 'Invalid or expired phase token',
    remedy: 'Claim the task again with the agent token to get a fresh phase token.',
  },
  token_stale: {
    title: 'The token was superseded',
    remedy: 'Use the newest phase token. If it was lost, claim the task again.',
  },
  token_mismatch: {
    title: 'The token belongs to another task',
    remedy: 'Send the task_id that the token was issued for.',
  },
  forbidden_tool: {
    title: 'The current phase does not offer this tool',
    remedy: 'Use one of the listed tools, or finish this phase first.',
  },
  unknown_tool: {
    title: 'The tool does not exist',
    remedy: 'Use one of the listed tools; names are compared exactly.',
  },
  constraint_violation: {
    title: 'The phase does not allow this tool with these arguments',
    remedy: 'Stay within the patterns that the phase allows.',
  },
  not_permitted: {
    title: 'This token does not have the permission',
    remedy: 'Ask an operator who has the permission.',
  },
  login_failed: {
    title: 'The login failed',
    remedy: 'Run `phaselock login` for a new link, or log in with an operator token.',
  },
  session_ended: {
    title: 'The session has ended',
    remedy: 'Log in again: `phaselock login` prints a link.',
  },
  csrf_token_missing: {
    title: 'The CSRF token of the session is missing or wrong',
    remedy: 'Send `csrf_token` of GET /session in the header X-CSRF-Token.',
  },
  confirmation_required: {
    title: 'This act needs a passkey or passphrase besides the token',
    remedy:
      'Do it in the dashboard with a passkey, or at a terminal with the same `phaselock` command, which asks for the passphrase (`--passphrase-file FILE` in scripts).',
  },
  confirmation_invalid: {
    title: 'The confirmation does not hold for this act',
    remedy: 'Confirm exactly this act again: POST /confirmations, or send the passphrase.',
  },
  host_not_allowed: {
    title: 'The Host or Origin header is not accepted',
    remedy: 'Use the address that the server printed at start, or start it with --allow-host NAME.',
  },
  not_found: { title: 'Not found', remedy: 'Check the id and the path.' },
  no_task_available: {
    title: 'No task is available',
    remedy: 'Wait for an operator to add a task, or for a dependency to be completed.',
  },
  conflict: {
    title: 'The request conflicts with the current state',
    remedy: 'Read the current state and decide again.',
  },
  already_claimed: {
    title: 'Another agent holds the task',
    remedy: 'Claim another task, or wait until this one is released.',
  },
  phase_sequence_violation: {
    title: 'The task is not in that phase',
    remedy: 'Finish the current phase first.',
  },
  task_not_active: {
    title: 'The task is not active',
    remedy: 'If it was interrupted, claim it again. If it is parked, an operator runs `phaselock task resume TASK`.',
  },
  no_active_task: { title: 'The agent holds no task', remedy: 'Claim a task first.' },
  agents_paused: { title: 'All agents are paused', remedy: 'Wait until an operator runs `phaselock unpause`.' },
  method_not_allowed: {
    title: 'The path does not take this method',
    remedy: 'Use one of the methods in the header Allow of the answer.',
  },
  payload_too_large: { title: 'The body is too large', remedy: 'Send less in one request.' },
  unsupported_media_type: { title: 'The body is not JSON', remedy: 'Send "Content-Type: application/json".' },
  idempotency_mismatch: {
    title: 'The idempotency key was used for another request',
    remedy: 'Use a new key for a new request.',
  },
  rate_limited: {
    title: 'Too many requests',
    remedy: 'Wait for the number of seconds in Retry-After, then send the request again.',
  },
  store_unavailable: {
    title: 'The ledger cannot be written',
    remedy:
      'Free disk space or repair the store, then send the request again, under the same Idempotency-Key if it had one.',
  },
  wrong_node: {
    title: 'The task is on another node that cannot be reached',
    remedy:
      'Wait for the number of seconds in Retry-After, then send the request again. Start the node if it stays away.',
  },
  trees_elsewhere: {
    title: 'What the node knew about its work trees is not here',
    remedy: 'Adopt the node from a server that was started with the folder of its shared trees: --shared-trees FOLDER.',
  },
  tree_missing: {
    title: 'The work tree of the task is missing',
    remedy:
      'An operator puts the folder back as it was, or gives the task up: `phaselock task cancel TASK --reason TEXT`. `phaselock status` names both.',
  },
  state_unreadable: {
    title: 'What the server keeps on disk cannot be read or written',
    remedy:
      'Put the named file back from a backup and restart the server. `phaselock doctor` looks at the state directory.',
  },
  shutting_down: { title: 'The server is stopping', remedy: 'Send the request again when it is back.' },
  confinement_unavailable: {
    title: 'Commands cannot be confined as the contract requires',
    remedy: 'Install what `phaselock doctor` names, or set enforcement.confinement in the contract to best_effort.',
  },
  agent_unavailable: {
    title: 'The agent cannot be started here',
    remedy: 'Install what is missing or correct the entry under agents, then start the agent again.',
  },
  agent_cli_too_old: {
    title: 'This version of the agent CLI cannot be held',
    remedy: 'Update the agent CLI, then run the command again.',
  },
  knowledge_unavailable: {
    title: 'The documents cannot be searched now',
    remedy: 'Send the request again in a few seconds, or read the files themselves.',
  },
  internal_error: {
    title: 'Internal error',
    remedy: 'Send the request again. If it fails again, report it together with the server log.',
  },
  'contract.invalid': {
    title: 'The contract does not load',
    remedy: 'Correct the listed problems; `phaselock lint` shows them again.',
  },
  'contract.not_enforced_yet': {
    title: 'The contract uses features that this version cannot enforce',
    remedy: 'Remove the listed parts, or use a version that enforces them.',
  },
  missing_artifact: {
    title: 'A required artifact is missing',
    remedy: 'Send the artifact with the transition request.',
  },
  invalid_artifact: {
    title: 'An artifact does not match its schema',
    remedy: 'Correct the artifact at the named pointers.',
  },
  check_failed: {
    title: 'A check failed',
    remedy: 'Fix what the message names, then request the transition again.',
  },
  check_error: {
    title: 'A check could not be run',
    remedy: 'Ask an operator to look at the contract and the work tree.',
  },
  evidence_stale: {
    title: 'The evidence is out of date',
    remedy: 'Request the transition again.',
  },
  incomplete_checkpoint: {
    title: 'Checkpoint evidence is missing or wrong',
    remedy: 'Send every evidence field that the phase describes.',
  },
  claim_missing: { title: 'The transition needs a claim', remedy: 'Send the named claim as true in "claims".' },
  rule_interrupt: { title: 'A rule was violated', remedy: 'Acknowledge the interrupt with continue, or ask for help.' },
  unledgered_change: {
    title: 'The work tree changed without an allowed call',
    remedy: 'Undo the change, or ask an operator to run `phaselock revert TASK` or `phaselock accept TASK PATH`.',
  },
  consensus_pending: { title: 'The reviewers have not agreed yet', remedy: 'Wait for the reviewers to vote.' },
  approval_pending: {
    title: 'An approval is pending',
    remedy: 'Wait for the approver, then send the same request again.',
  },
  approval_rejected: {
    title: 'The approval was rejected',
    remedy: "Change the work as the approver's comment asks, then request again.",
  },
  enforcement_not_live: {
    title: 'The hooks of the agent CLI are not active',
    remedy: 'Install the hooks of the agent CLI again and restart it.',
  },
  gate_blocked: {
    title: 'The gate is blocked',
    remedy: 'Clear every listed blocker, then request the transition again.',
  },
} as const satisfies Record<string, CodeText>

export type Code = keyof typeof CODES
