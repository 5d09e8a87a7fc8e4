import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { PlainText } from '../../ui/text/plain-text.js'
import { stripTerminal } from '../../ui/text/terminal-lines.js'

const LINE_PX = 20
const LINE_CHARS_MAX = 2000
const NEAR_END_PX = 60

/** Lines of text, only those in view drawn. It follows the end unless the person has scrolled away from it. */
export function LogView({ lines, label }: { readonly lines: readonly string[]; readonly label: string }): ReactNode {
  const box = useRef<HTMLDivElement>(null)
  const [follows, setFollows] = useState(true)
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => LINE_PX,
    overscan: 20,
  })
  useEffect(() => {
    if (follows && lines.length > 0) rows.scrollToIndex(lines.length - 1, { align: 'end' })
  }, [follows, lines.length, rows])
  const onScroll = (): void => {
    const at = box.current
    if (at !== null) setFollows(at.scrollHeight - at.scrollTop - at.clientHeight < NEAR_END_PX)
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
    <div ref={box} className="age-log" role="log" aria-label={label} aria-live="off" tabIndex={0} onScroll={onScroll}>
      <div className="age-log-lines" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map((row) => (
          <div
            key={row.key}
            ref={rows.measureElement}
            data-index={row.index}
            className={lines[row.index]?.startsWith('---') === true ? 'age-log-line age-ours' : 'age-log-line'}
            style={{ transform: `translateY(${row.start}px)` }}
          >
            <PlainText text={stripTerminal(lines[row.index] ?? '') || '\u00a0'} charsMax={LINE_CHARS_MAX} />
          </div>
        ))}
      </div>
    </div>
  )
}
