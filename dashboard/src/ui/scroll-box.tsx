import type { ReactNode } from 'react'

interface Props {
  readonly label: string
  readonly className: string
  readonly children: ReactNode
}

/** A part of the page that scrolls sideways on its own, also by keyboard. */
export function ScrollBox({ label, className, children }: Props): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
    <section className={className} aria-label={label} tabIndex={0}>
      {children}
    </section>
  )
}
