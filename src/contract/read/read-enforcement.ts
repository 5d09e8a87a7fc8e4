import type { EnforcementDocument } from '../document.js'
import { findGlobProblem } from '../patterns.js'
import type { Fields } from './fields.js'
import type { Reading } from './reading.js'

export const MODES = ['strict', 'permissive', 'advisory'] as const
const CONFINEMENTS = ['required', 'best_effort', 'off'] as const
const RECONCILES = ['block', 'warn', 'off'] as const
const VIOLATION_ACTIONS = ['reject', 'warn', 'log'] as const
const ENFORCEMENT_KEYS = [
  'mode',
  'phase_tokens',
  'max_attempts',
  'denial_budget',
  'lease_seconds',
  'confinement',
  'reconcile',
  'reconcile_ignore',
  'agent_sdk',
  'tool_enforcement',
]
const TOKEN_CLAIMS = [
  'iss',
  'aud',
  'sub',
  'task_id',
  'phase',
  'allowed_tools',
  'epoch',
  'contract',
  'jti',
  'iat',
  'exp',
]
const SECRET_VARIABLE = /^(ORCHESTRATOR|PHASELOCK)_[A-Za-z0-9_]+$/
const ACTION_OF_MODE = { strict: 'reject', permissive: 'warn', advisory: 'log' } as const

/** `enforcement:`; all of it has defaults. */
export function readEnforcement(reading: Reading, root: Fields): EnforcementDocument {
  const fields = root.openInner('enforcement', ENFORCEMENT_KEYS)
  if (fields === null) return makeDefaults()
  const mode = fields.choice('mode', MODES, 'strict', 'contract.unknown_mode')
  const base = makeDefaults()
  const ignore = fields.getTexts('reconcile_ignore') ?? []
  for (const [index, glob] of ignore.entries()) {
    const problem = findGlobProblem(glob)
    const at = reading.locateReport(ignore, index, 'contract.invalid_value')
    if (problem !== null) reading.report({ ...at, message: `The pattern '${glob}' is refused: ${problem}.` })
  }
  readAgentSdk(fields)
  readToolEnforcement(fields, mode)
  const enforcement: EnforcementDocument = {
    mode,
    phase_tokens: readPhaseTokens(fields),
    max_attempts: fields.getPositive('max_attempts', base.max_attempts),
    denial_budget: fields.getPositive('denial_budget', base.denial_budget),
    lease_seconds: fields.getPositive('lease_seconds', base.lease_seconds),
    confinement: fields.choice('confinement', CONFINEMENTS, mode === 'strict' ? 'required' : 'best_effort'),
    reconcile: fields.choice('reconcile', RECONCILES, base.reconcile),
    reconcile_ignore: ignore,
  }
  return reading.made(enforcement, fields.node)
}

function makeDefaults(): EnforcementDocument {
  return {
    mode: 'strict',
    phase_tokens: { expiry_seconds: 7200, algorithm: 'HS256', secret_env_var: 'ORCHESTRATOR_JWT_SECRET' },
    max_attempts: 3,
    denial_budget: 10,
    lease_seconds: 900,
    confinement: 'required',
    reconcile: 'block',
    reconcile_ignore: [],
  }
}

function readPhaseTokens(parent: Fields): EnforcementDocument['phase_tokens'] {
  const base = makeDefaults().phase_tokens
  const fields = parent.openInner('phase_tokens', [
    'expiry_seconds',
    'algorithm',
    'secret_env_var',
    'enabled',
    'include_claims',
  ])
  if (fields === null) return base
  if (!fields.getFlag('enabled', true)) {
    fields.reportBad('enabled', 'contract.effect_differs', 'Phase tokens cannot be switched off; they are always used.')
  }
  const claims = fields.getTexts('include_claims') ?? []
  const unknown = claims.filter((claim) => !TOKEN_CLAIMS.includes(claim))
  if (unknown.length > 0) {
    const message = `The claims of a phase token are fixed; ${unknown.join(', ')} is not among them.`
    fields.reportBad('include_claims', 'contract.effect_differs', message, `Claims: ${TOKEN_CLAIMS.join(', ')}.`)
  }
  const secret = fields.getText('secret_env_var', base.secret_env_var)
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(secret)) {
    fields.reportBad(
      'secret_env_var',
      'contract.invalid_value',
      `'${secret}' is not the name of an environment variable.`,
    )
  } else if (!SECRET_VARIABLE.test(secret)) {
    // Any other variable, such as PATH, may hold a value that others know, and tokens could be forged with it.
    const message = `Tokens are not signed with ${secret}: the name must begin with ORCHESTRATOR_ or PHASELOCK_.`
    fields.reportBad(
      'secret_env_var',
      'contract.invalid_value',
      message,
      `Use ${base.secret_env_var}, or leave it out.`,
    )
  }
  return {
    expiry_seconds: fields.getPositive('expiry_seconds', base.expiry_seconds),
    algorithm: fields.choice('algorithm', ['HS256'], 'HS256'),
    secret_env_var: secret,
  }
}

function readAgentSdk(parent: Fields): void {
  const fields = parent.openInner('agent_sdk', ['required', 'version', 'endpoint', 'fallback_endpoint'])
  if (fields === null) return
  if (fields.getFlag('required', false)) {
    const message =
      'Any client with a valid token is admitted, with the SDK or without; tokens and stored state enforce.'
    fields.reportBad('required', 'contract.effect_differs', message)
  }
  const differs: readonly [key: string, message: string][] = [
    ['version', 'The SDK version is not checked; the API keeps its meaning.'],
    ['endpoint', 'The address is a setting of the server, not of the contract.'],
    ['fallback_endpoint', 'A fallback endpoint is not needed and not used.'],
  ]
  for (const [key, message] of differs) {
    if (!fields.has(key)) continue
    fields.getText(key)
    fields.reportBad(key, 'contract.effect_differs', message)
  }
}

function readToolEnforcement(parent: Fields, mode: (typeof MODES)[number]): void {
  const fields = parent.openInner('tool_enforcement', ['enabled', 'violation_action', 'capability_model', 'audit_log'])
  if (fields === null) return
  if (!fields.getFlag('enabled', true)) {
    fields.reportBad(
      'enabled',
      'contract.effect_differs',
      'Tool enforcement cannot be switched off; enforcement.mode says how strict it is.',
    )
  }
  const action = fields.choice('violation_action', VIOLATION_ACTIONS, ACTION_OF_MODE[mode])
  if (action !== ACTION_OF_MODE[mode]) {
    const message = `enforcement.mode is ${mode}, which means '${ACTION_OF_MODE[mode]}'; violation_action does not change it.`
    fields.reportBad('violation_action', 'contract.effect_differs', message, 'Set enforcement.mode instead.')
  }
  fields.choice('capability_model', ['deny_by_default'], 'deny_by_default')
  if (fields.has('audit_log')) {
    fields.getText('audit_log')
    fields.reportBad(
      'audit_log',
      'contract.effect_differs',
      'Every call is recorded in the ledger; no separate log file is written.',
    )
  }
}
