import type { ComponentProps, ReactNode } from 'react'
import { Icon, type IconName } from './icon.js'
import { ShortcutHint } from './shortcut-hint.js'

interface Look {
  readonly look?: 'primary' | 'approve' | 'reject' | 'ghost'
  readonly size?: 'lg'
  readonly wide?: boolean
  readonly icon?: IconName
  /** The key that does the same. */
  readonly shortcut?: string
}

export interface ButtonProps extends Look, ComponentProps<'button'> {
  /** While a call runs: the button cannot be pressed, and keeps its width. */
  readonly busy?: boolean
}

export function Button({
  look,
  size,
  wide,
  icon,
  shortcut,
  busy,
  children,
  className,
  ...rest
}: ButtonProps): ReactNode {
  const isIconOnly = icon !== undefined && children === undefined
  return (
    <button
      type="button"
      className={toButtonClass({ look, size, wide }, isIconOnly, className)}
      aria-busy={busy === true ? true : undefined}
      {...rest}
      disabled={rest.disabled === true || busy === true}
    >
      {icon === undefined ? null : <Icon name={icon} size={isIconOnly ? 16 : 14} />}
      {children}
      {shortcut === undefined ? null : <ShortcutHint keys={shortcut} />}
    </button>
  )
}

/** The classes of a button, for links that look like one. */
export function toButtonClass(
  { look, size, wide }: { look?: Look['look']; size?: Look['size']; wide?: boolean | undefined },
  isIconOnly = false,
  more = '',
): string {
  return [
    'btn',
    look === undefined ? '' : `btn--${look}`,
    size === undefined ? '' : `btn--${size}`,
    wide === true ? 'btn--wide' : '',
    isIconOnly ? 'btn--icon' : '',
    more,
  ]
    .filter((name) => name !== '')
    .join(' ')
}
