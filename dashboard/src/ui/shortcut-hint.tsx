import type { ReactNode } from 'react'

/** The key that does the same as the button it is in. Not part of the button's name: the list of all keys says it. */
export function ShortcutHint({ keys }: { readonly keys: string }): ReactNode {
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a kbd element takes no focus
  return <kbd aria-hidden="true">{keys}</kbd>
}
