import { WeakSecret } from '../../app/identity/tokens.js'
import { BadPlace } from '../../app/orchestrator.js'
import { StoreRefused, StoreUnavailable } from '../../store/store.js'
import { EXIT, Stop } from '../exit.js'

const PORT_MAX = 65_535

const STORE_REMEDY: Readonly<Record<StoreRefused['code'], string>> = {
  locked: '',
  corrupt:
    'Nothing was changed. Look with `phaselock audit verify`, and put a copy back or choose another --state-dir.',
  tampered:
    'Nothing was changed. `phaselock audit verify` names the first bad event; put a good copy back or choose another --state-dir.',
  too_new: 'Use the newer program, or another --state-dir.',
  // The message says what to do.
  unreachable: '',
  unreadable: 'Check the permissions of the state directory, or choose another with --state-dir.',
}

/** Why the server did not start, in one message that says what to do. An unknown fault is passed on unchanged. */
export function startFailure(error: unknown, asked: { readonly host: string; readonly port: number }): unknown {
  if (error instanceof BadPlace) return new Stop(EXIT.refused, toSentence(error.message))
  if (error instanceof WeakSecret)
    return new Stop(
      EXIT.refused,
      `${toSentence(error.message)}\nSet ORCHESTRATOR_JWT_SECRET to a longer one (openssl rand -base64 48), or unset it to have one generated.`,
    )
  if (error instanceof StoreRefused)
    return new Stop(
      EXIT.refused,
      [toSentence(error.message), STORE_REMEDY[error.code]].filter((one) => one !== '').join('\n'),
    )
  if (error instanceof StoreUnavailable)
    return new Stop(
      EXIT.refused,
      `${toSentence(error.message)}\nCheck the free space and the permissions of the state directory.`,
    )
  return explainSystemFailure(error as NodeJS.ErrnoException, asked)
}

function explainSystemFailure(
  error: NodeJS.ErrnoException,
  asked: { readonly host: string; readonly port: number },
): unknown {
  const path = error.path ?? ''
  switch (error.code) {
    case 'EADDRINUSE': {
      const other = asked.port < PORT_MAX ? asked.port + 1 : asked.port - 1
      return new Stop(
        EXIT.refused,
        `Port ${asked.port} is in use. Stop what uses it, or choose another with --port ${other}`,
      )
    }
    case 'EACCES':
    case 'EPERM':
      return error.syscall === 'listen'
        ? new Stop(EXIT.refused, `Port ${asked.port} needs more rights. Choose one above 1023, such as --port 8000`)
        : new Stop(EXIT.refused, `${path} may not be used. Check its permissions, or choose another with --state-dir`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new Stop(EXIT.refused, `This machine has no address ${asked.host}. Choose another with --host`)
    case 'EROFS':
    case 'ENOSPC':
    case 'ENOTDIR':
      return new Stop(EXIT.refused, `${path} cannot be written (${error.code}). Choose another place with --state-dir`)
    default:
      return error
  }
}

function toSentence(text: string): string {
  const start = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?]$/.test(start) ? start : `${start}.`
}
