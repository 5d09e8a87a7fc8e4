import { call } from './client.js'
import { ApiProblem } from './problem.js'

/** A call that opens a gate or loosens a rule. */
export interface SensitiveCall {
  /** The operationId of the call, for example `decideApproval`. */
  readonly act: string
  readonly method?: 'POST' | 'PATCH'
  /** With `{name}` where a parameter goes. */
  readonly path: string
  readonly params?: Readonly<Record<string, string>>
  readonly body?: Readonly<Record<string, unknown>>
}

export type ConfirmMethod = 'passkey' | 'passphrase'

export type Confirmation = { readonly passphrase: string } | { readonly id: string; readonly assertion: unknown }

/** An act that waits for the operator to confirm it. */
export interface PendingAct {
  readonly call: SensitiveCall
  readonly methods: readonly ConfirmMethod[]
  readonly reason: ApiProblem
  /** Makes the call with the confirmation; resolves to the problem when the confirmation was not accepted. */
  readonly confirm: (confirmation: Confirmation) => Promise<ApiProblem | null>
  readonly cancel: () => void
}

let pending: PendingAct | null = null
const listeners = new Set<() => void>()

export function getPendingAct(): PendingAct | null {
  return pending
}

export function subscribeToPendingAct(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/**
 * Makes a sensitive call. When the server asks for a confirmation, a dialog takes it and the call is repeated with it.
 * Throws an ApiProblem when the call is refused or the dialog closed.
 */
export async function confirmAct<T>(sensitive: SensitiveCall): Promise<T> {
  try {
    return await send<T>(sensitive, null)
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.code !== 'confirmation_required') throw error
    return askFor<T>(sensitive, error)
  }
}

function askFor<T>(sensitive: SensitiveCall, reason: ApiProblem): Promise<T> {
  pending?.cancel()
  return new Promise<T>((resolve, reject) => {
    const confirm = async (confirmation: Confirmation): Promise<ApiProblem | null> => {
      try {
        const answer = await send<T>(sensitive, confirmation)
        setPending(null)
        resolve(answer)
        return null
      } catch (error) {
        if (error instanceof ApiProblem && error.code === 'confirmation_invalid') return error
        setPending(null)
        reject(error)
        return null
      }
    }
    const cancel = (): void => {
      setPending(null)
      reject(new ApiProblem(0, 'confirmation_cancelled', 'Not confirmed: nothing was changed.'))
    }
    setPending({ call: sensitive, methods: readMethods(reason), reason, confirm, cancel })
  })
}

function send<T>({ method = 'POST', path, params = {}, body = {} }: SensitiveCall, confirmation: Confirmation | null) {
  return call<T>(method, path, { path: params, body: confirmation === null ? body : { ...body, confirmation } })
}

function readMethods({ body }: ApiProblem): readonly ConfirmMethod[] {
  const { confirm } = body as { confirm?: { methods?: unknown } }
  return Array.isArray(confirm?.methods) ? (confirm.methods as ConfirmMethod[]) : []
}

function setPending(next: PendingAct | null): void {
  pending = next
  for (const listener of listeners) listener()
}
