import type { Client } from '../client/client.js'
import { setPassphrase } from '../client/set-passphrase.js'
import { findProgramName } from '../program-name.js'
import { tell } from '../terminal/terminal.js'

/**
 * An agent with a shell under the person's account can read the operator's token, so that approvals of its task need a
 * passkey or passphrase. A first one can only be set before such an agent was there.
 */
export async function requireCredential(operator: Client): Promise<void> {
  const { passkeys, has_passphrase } = await operator.credentials()
  if (passkeys.length > 0 || has_passphrase) return
  tell(
    `With --native the agent has a shell under your account and could read your token. So approvals need a passphrase\n(or a passkey, which you can add in the dashboard). Choose one now; replace it with \`${findProgramName()} operator passphrase\`.`,
  )
  await setPassphrase(operator, {})
}
