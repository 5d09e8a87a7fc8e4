import { loadContractText } from '../../contract/load/load-contract.js'
import type { Contract } from '../../core/contract/contract.js'
import { isBelowConfinement } from '../../core/contract/contract-permissions.js'
import type { Json, JsonObject } from '../../core/json.js'
import type { App } from '../app.js'
import { ok, type Result, refuse, toProblem } from '../result.js'

/** Loads a contract that an operator sent as text and registers it. Sending it means that the operator trusts it. */
export async function addContract(app: App, text: string, actor: string): Promise<Result<JsonObject>> {
  const loaded = await loadContractText(text, { file: 'contract', baseDir: null })
  if (!loaded.ok) {
    const errors = loaded.diagnostics.filter((diagnostic) => diagnostic.severity === 'error')
    return refuse(
      'contract.invalid',
      `The contract has ${errors.length} error${errors.length === 1 ? '' : 's'}; the first: ${errors[0]?.message ?? ''}`,
      { errors: loaded.diagnostics.map((diagnostic) => ({ ...diagnostic })) },
    )
  }
  const { contract } = loaded
  if (contract.enforcement.secretEnvVar !== app.secrets.variable)
    return refuse(
      'contract.invalid',
      `The contract names ${contract.enforcement.secretEnvVar} for the signing secret; this server signs with ${app.secrets.variable}.`,
    )
  const refused = refuseWeakConfinement(app, contract)
  if (refused !== null) return refused
  const secret = findSecret(app, loaded.document)
  if (secret !== null)
    return refuse(
      'contract.invalid',
      `The contract holds what looks like a secret at ${secret}; name an environment variable instead.`,
    )
  const by = { origin: 'api', actor, now: app.now(), isTrusted: true }
  const refusal = await app.contracts.register(loaded, by)
  if (refusal !== null) return toProblem(refusal)
  return ok({
    hash: contract.hash,
    name: contract.name,
    version: contract.version,
    warnings: loaded.warnings.map((warning) => ({ ...warning })),
  })
}

function refuseWeakConfinement(app: App, { enforcement }: Contract): Result<never> | null {
  const { least } = app.contracts
  if (!isBelowConfinement(enforcement.confinement, least)) return null
  return refuse(
    'contract.invalid',
    `The contract asks for confinement ${enforcement.confinement}, and this server was started with --min-confinement ${least}.`,
  )
}

/** Where a document contains something that the ledger would not store; null when nowhere. */
function findSecret(app: { readonly redact: (value: Json) => Json }, document: Json, path = ''): string | null {
  if (document === null || typeof document !== 'object')
    return app.redact(document) === document ? null : path || 'its top level'
  for (const [name, value] of Object.entries(document as Record<string, Json>)) {
    const found = findSecret(app, value, path === '' ? name : `${path}.${name}`)
    if (found !== null) return found
  }
  return null
}
