import { checked, choice, flag, globs, names, positive, text } from '../schema/kinds.js'
import { alwaysTrue, buildDefaults, maybe, object, otherwise, unkept } from '../schema/object.js'

export const MODES = ['strict', 'permissive', 'advisory'] as const
const ACTION_OF_MODE = { strict: 'reject', permissive: 'warn', advisory: 'log' } as const
const TOKEN_CLAIMS = 'iss aud sub task_id phase allowed_tools epoch contract jti iat exp'.split(' ')
const SECRET_DEFAULT = 'ORCHESTRATOR_JWT_SECRET'
const SECRET_PATTERN = '^(ORCHESTRATOR|PHASELOCK)_[A-Za-z0-9_]+$'

const secretVariable = checked(
  { ...text, words: 'name' },
  (name, bad) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) bad(`'${name}' is not the name of an environment variable.`)
    else if (!new RegExp(SECRET_PATTERN).test(name))
      // Other variables, such as PATH, may have a value that others know, so that tokens could be forged.
      bad(
        `Tokens are not signed with ${name}: the name must begin with ORCHESTRATOR_ or PHASELOCK_.`,
        `Use ${SECRET_DEFAULT}, or leave it out.`,
      )
  },
  { pattern: SECRET_PATTERN },
)

const claims = checked(names, (given, bad) => {
  const unknown = given.filter((claim) => !TOKEN_CLAIMS.includes(claim))
  if (unknown.length === 0) return
  const message = `The claims of a phase token are fixed; ${unknown.join(', ')} is not among them.`
  bad(message, `Claims: ${TOKEN_CLAIMS.join(', ')}.`, 'contract.effect_differs')
})

const PHASE_TOKENS = object('phase_tokens', 'Phase tokens', {
  expiry_seconds: otherwise(positive, 'How long a token is valid.', '7200', { fallback: 7200 }),
  algorithm: otherwise(choice(['HS256'] as const), 'The only supported signature algorithm.', 'HS256', {
    fallback: 'HS256',
  }),
  secret_env_var: otherwise(
    secretVariable,
    'The environment variable that holds the secret; its name begins with `ORCHESTRATOR_` or `PHASELOCK_`.',
    SECRET_DEFAULT,
    { fallback: SECRET_DEFAULT },
  ),
  enabled: alwaysTrue('Phase tokens cannot be switched off; they are always used.'),
  include_claims: unkept(claims, 'The claims are fixed; others cause a warning.', '[task_id, phase]', {
    unset: 'fixed',
  }),
})

const AGENT_SDK = object('agent_sdk', 'Agent SDK', {
  required: unkept(flag, 'Any client with a valid token is admitted.', 'true', {
    differs: (isRequired) =>
      isRequired
        ? 'Any client with a valid token is admitted, with or without the SDK; tokens and stored state enforce the contract.'
        : null,
  }),
  version: unkept(text, 'Not checked.', '">=1.0.0"', {
    differs: 'The SDK version is not checked; the API keeps its meaning.',
  }),
  endpoint: unkept(text, 'A setting of the server.', '"http://localhost:8000/api/v1"', {
    differs: 'The address is a setting of the server, not of the contract.',
  }),
  fallback_endpoint: unkept(text, 'Not needed.', '"file://socket"', {
    differs: 'A fallback endpoint is not needed and not used.',
  }),
})

const TOOL_ENFORCEMENT = object('tool_enforcement', 'Tool enforcement', {
  enabled: alwaysTrue('Tool enforcement cannot be switched off; enforcement.mode says how strict it is.'),
  violation_action: maybe(
    choice(['reject', 'warn', 'log'] as const),
    '`mode` decides; another value causes a warning.',
    'reject',
    { unset: 'as `mode` says' },
  ),
  capability_model: unkept(choice(['deny_by_default']), 'The only supported model.', 'deny_by_default', {
    unset: '`deny_by_default`',
  }),
  audit_log: unkept(text, 'The ledger is used instead.', 'audit.jsonl', {
    words: 'path',
    differs: 'Every call is recorded in the ledger; no separate log file is written.',
  }),
})

const FIELDS = {
  mode: otherwise(
    choice(MODES, undefined, 'contract.unknown_mode'),
    'Whether tool, constraint and gate refusals hold, or are let through and marked.',
    'strict',
    { fallback: 'strict' },
  ),
  phase_tokens: otherwise(PHASE_TOKENS, 'The tokens agents prove themselves with.', '{expiry_seconds: 7200}', {
    fallback: buildDefaults(PHASE_TOKENS.fields),
    unset: 'see there',
  }),
  max_attempts: otherwise(
    positive,
    'After how many refusals of one kind in a row, in one visit, the retry text says that the tries are used up.',
    '3',
    { fallback: 3 },
  ),
  denial_budget: otherwise(
    positive,
    'How many refusals in a row without progress park the task. The same number of refusals by `tests_can_fail` parks it too, even if they are not in a row.',
    '10',
    {
      fallback: 10,
    },
  ),
  lease_seconds: otherwise(
    positive,
    'How long a claim lasts without a call. It does not end while an approval or a question of the task is open.',
    '900',
    { fallback: 900 },
  ),
  confinement: maybe(
    choice(['required', 'best_effort', 'off'] as const),
    'Whether commands must run in the [sandbox](security.md#the-sandbox). With `required`, no agent gets a task that runs commands unless the sandbox works. Otherwise commands run without a sandbox, and every answer says `unenforced`.',
    'required',
    { unset: '`required` in strict mode, else `best_effort`' },
  ),
  reconcile: otherwise(
    choice(['block', 'warn', 'off'] as const),
    'What happens when the work tree has changes that no allowed call made and the phase does not permit. The tree is compared at each transition and when a claim is resumed: with its state when work began, plus what allowed calls changed since.',
    'block',
    { fallback: 'block' },
  ),
  reconcile_ignore: otherwise(
    globs,
    'Paths that are not compared. Paths that git ignored when work began are not compared either; folders of installed packages are.',
    '["coverage/**"]',
    { fallback: [] },
  ),
  agent_sdk: unkept(AGENT_SDK, 'Has no effect, and causes a warning.', '{required: true}'),
  tool_enforcement: maybe(TOOL_ENFORCEMENT, 'Another way to write `mode`.', '{violation_action: reject}'),
}

/** `enforcement:`; all of it has defaults. */
export const ENFORCEMENT = object('enforcement', 'Enforcement', FIELDS, {
  finish: ({ tool_enforcement: tools, ...enforcement }, { reading }) => {
    const { mode, confinement = mode === 'strict' ? 'required' : 'best_effort' } = enforcement
    const action = tools?.violation_action
    if (tools !== undefined && action !== undefined && action !== ACTION_OF_MODE[mode]) {
      const message = `enforcement.mode is ${mode}, which means '${ACTION_OF_MODE[mode]}'; violation_action does not change it.`
      const remedy = 'Set enforcement.mode instead.'
      reading.reportAt('contract.effect_differs', [tools, 'violation_action'], message, remedy)
    }
    return { ...enforcement, confinement }
  },
})

export const ENFORCEMENT_DEFAULT = { ...buildDefaults(FIELDS), confinement: 'required' as const }
