import { sha256Hex } from '../../base/sha256.js'

/** The temporary entries of one step: the new one, and the old one while it is kept. */
export type TemporaryKind = 'new' | 'old'

/** Unpredictable for everybody who does not know the secret of the change. */
export function makeTemporaryName(secret: string, step: number, kind: TemporaryKind): string {
  return `.phaselock-${sha256Hex(`${secret}:${step}:${kind}`).slice(0, 32)}`
}
