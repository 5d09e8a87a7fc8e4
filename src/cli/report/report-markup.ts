import { toPlainText } from '../terminal/plain-text.js'

/** Markup that was made here. Only `html` and `trusted` make it, so text that others wrote never passes for it. */
export class Markup {
  constructor(readonly text: string) {}
}

type Part = Markup | string | number | null | undefined | readonly Markup[]

/** Markup with values in it. Whatever is no markup is shown as text: neither a tag nor an attribute can come of it. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const text = strings.map((string, at) => (at === 0 ? string : renderPart(parts[at - 1]) + string)).join('')
  return new Markup(text)
}

/** Markup that another program of ours has made and escaped. */
export function trustMarkup(text: string): Markup {
  return new Markup(text)
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

function renderPart(part: Part): string {
  if (part instanceof Markup) return part.text
  if (Array.isArray(part)) return part.map((markup: Markup) => markup.text).join('')
  // What is shown must be what is there: no marks that reorder or hide text.
  return toPlainText(String(part ?? '')).replace(/[&<>"'`]/g, (found) => ESCAPES[found] ?? '')
}
