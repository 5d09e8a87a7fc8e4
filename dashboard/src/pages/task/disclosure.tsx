import { type ReactNode, useId, useState } from 'react'
import { Icon } from '../../ui/icon.js'

interface Props {
  readonly summary: ReactNode
  readonly children: ReactNode
  readonly isOpenAtFirst?: boolean
}

/** A row that opens to more; what is inside is made when it is opened. */
export function Disclosure({ summary, children, isOpenAtFirst = false }: Props) {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  const id = useId()
  return (
    <div className="disclosure">
      <button
        type="button"
        className="disclosure__head"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <span className="disclosure__arrow">
          <Icon name="right" size={12} />
        </span>
        {summary}
      </button>
      <div id={id} hidden={!isOpen} className="disclosure__body">
        {isOpen && children}
      </div>
    </div>
  )
}
