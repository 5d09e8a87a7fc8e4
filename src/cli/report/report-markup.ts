import { plainText } from '../../core/plain-text.js'

/** Markup made here. Only `html` and `trusted` make it, so text by others is never treated as markup. */
export class Markup {
  constructor(readonly text: string) {}
}

type Part = Markup | string | number | null | undefined | readonly Markup[]

/**
 * Markup with values in it. Anything that is not markup is shown as text: it can become neither a tag nor an attribute.
 */
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
  // Removes marks that reorder or hide text, so that people see what is there.
  return plainText(String(part ?? '')).replace(/[&<>"'`]/g, (found) => ESCAPES[found] ?? '')
}
