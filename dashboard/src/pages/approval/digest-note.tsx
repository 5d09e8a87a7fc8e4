import type { ReactNode } from 'react'
import type { Approval } from './approval-types.js'

/** What the digest covers, and the digest. */
export function DigestNote({ approval }: { readonly approval: Approval }): ReactNode {
  const types = (approval.covers?.artifacts ?? approval.artifacts).map(({ type }) => type)
  const hasTree = approval.covers?.tree_hash != null
  const parts = [
    ...types,
    ...(hasTree ? ['every file of the work tree'] : []),
    'the evidence',
    'the checks and warnings',
  ]
  return (
    <>
      <p className="decide__hint">
        <b className="strong soft">
          {approval.status === 'pending' ? 'What you see is what you sign.' : 'What you see is what was asked about.'}
        </b>{' '}
        The digest covers {joinWords(parts)}.
        {approval.status === 'pending' && ' If one of them changes, your answer is void and you are asked again.'}
        {!hasTree && ' It does not cover the files: this gate asks about the artifacts alone.'}
      </p>
      <p className="digest">sha256 {approval.digest}</p>
    </>
  )
}

function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}
