import { type ReactNode, useState } from 'react'
import { cutText, showHidden } from '../../ui/text/hidden-characters.js'

interface Props {
  readonly text: string
  readonly chars: number
  readonly className: string
}

/** What an agent wrote, as text, cut after a while; the rest opens in place. */
export function CutText({ text, chars, className }: Props): ReactNode {
  const [isWhole, setWhole] = useState(false)
  const isLong = text.length > chars
  return (
    <>
      <p className={className}>{isLong && !isWhole ? `${showHidden(cutText(text, chars).text)}…` : showHidden(text)}</p>
      {isLong ? (
        <button type="button" className="cou-more" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show less' : `Show all ${text.length.toLocaleString('en-GB')} characters`}
        </button>
      ) : null}
    </>
  )
}
