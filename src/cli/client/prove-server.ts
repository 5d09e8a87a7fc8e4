import { randomBytes, timingSafeEqual } from 'node:crypto'
import { computeServerProof } from '../../store/server-proof.js'
import { EXIT, Stop } from '../exit.js'
import { findProgramName } from '../program-name.js'
import { formatStateDirOption } from '../terminal/next-steps.js'
import { findRunningServer } from './lock-holder.js'
import { readServerNote } from './server-file.js'

const NONCE_BYTES = 32
const PROOF_MS_MAX = 10_000
const ANSWER_CHARS_MAX = 1000

/**
 * Throws unless the server at the address proves that it is the server of the state directory. A killed server leaves
 * its note behind, and any program may listen at its address by now: no token is sent before this.
 */
export async function requireProof(stateDir: string, url: string): Promise<void> {
  await requireProofOver({ stateDir, url }, async (path) => {
    const signal = AbortSignal.timeout(PROOF_MS_MAX)
    const response = await fetch(`${url}${path}`, { redirect: 'error', signal })
    return { status: response.status, text: await response.text() }
  })
}

/** The same, with the question sent by `get`: over the connection that is used afterwards. */
export async function requireProofOver(
  { stateDir, url }: { readonly stateDir: string; readonly url: string },
  get: (path: string) => Promise<{ readonly status: number; readonly text: string }>,
): Promise<void> {
  const nonce = randomBytes(NONCE_BYTES).toString('hex')
  const response = await get(`/health/proof?nonce=${nonce}`)
  const given = parseProof(response.text.slice(0, ANSWER_CHARS_MAX))
  const expected = computeServerProof(stateDir, { url: findProvenAddress(stateDir, url), nonce })
  if (given !== null && expected !== null && isSame(given, expected)) return
  throw new Stop(
    EXIT.unreachable,
    response.status === 404 ? formatOldServer(stateDir, url) : formatNotTheServer(stateDir, url),
  )
}

// The server proves the address in its note. A program at another address could forward the challenge.
function findProvenAddress(stateDir: string, url: string): string {
  const noted = readServerNote(stateDir)?.url
  if (noted === undefined) return url
  const [there, asked] = [new URL(noted), new URL(url)]
  // A server whose note says localhost listens at both loopback addresses, or does not start.
  const names = there.hostname === 'localhost' ? ['localhost', '127.0.0.1', '[::1]'] : [there.hostname]
  const isSame = there.protocol === asked.protocol && there.port === asked.port && names.includes(asked.hostname)
  return isSame ? noted : url
}

function parseProof(text: string): string | null {
  try {
    const { proof } = JSON.parse(text) as { proof?: unknown }
    return typeof proof === 'string' ? proof : null
  } catch {
    // Not JSON: not an answer of Phaselock.
    return null
  }
}

function isSame(given: string, expected: string): boolean {
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected))
}

function formatNotTheServer(stateDir: string, url: string): string {
  return `What answers at ${url} is not the server of ${stateDir}. No token was sent to it.\nStart the server with \`${findProgramName()} up${formatStateDirOption(stateDir)}\`, or name another address with --url and its token with --token-file.`
}

// The lock shows that the process in the note is a server, not that it is the one that answers: it gets no token
// either.
function formatOldServer(stateDir: string, url: string): string {
  if (findRunningServer(stateDir) === null) return formatNotTheServer(stateDir, url)
  const where = formatStateDirOption(stateDir)
  const program = findProgramName()
  return `The server at ${url} was started by an earlier version and cannot prove that it is the server of ${stateDir}. No token was sent to it.\nRestart it: \`${program} down${where}\`, then \`${program} up${where}\` or \`${program} serve\` with its options.`
}
