import { Fragment } from 'react'
import { cutText, splitHidden } from './hidden-characters.js'
import './text.css'

const CHARS_MAX = 20_000

/** Text that an agent wrote: as text, invisible characters by their codes, cut aloud when it is long. */
export function PlainText({ text, charsMax = CHARS_MAX }: { readonly text: string; readonly charsMax?: number }) {
  const { text: shown, left } = cutText(text, charsMax)
  return (
    <>
      {splitHidden(shown).map((part, index) =>
        part.kind === 'plain' ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
          <Fragment key={index}>{part.text}</Fragment>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
          <span key={index} className="hidden-char" title={part.name}>
            {part.code}
            {part.count > 1 ? `×${part.count}` : ''}
          </span>
        ),
      )}
      {left > 0 && <span className="text-cut"> … {left.toLocaleString('en')} more characters are not shown</span>}
    </>
  )
}
