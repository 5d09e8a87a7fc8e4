import type { ChatPart } from '../../participants/participant.js'

/** Maximum held back: longer than any readable line and any key. */
const HELD_CHARS_MAX = 4000
/**
 * Every candidate is scanned from its start for each piece, so bound them: text full of commas must not keep the server
 * busy.
 */
const ENDS_TRIED_MAX = 8

type StreamedType = Extract<ChatPart, { type: 'text' | 'reasoning' }>['type']

interface HeldText {
  readonly type: StreamedType
  text: string
}

/**
 * Passes on what agents stream, cut only at the end of a line or clause, so that no secret is split across two pieces
 * and redaction finds it.
 */
export class WholeWords {
  readonly #held = new Map<string, HeldText>()

  constructor(private readonly passOn: (agent: string, part: ChatPart) => void) {}

  take(agent: string, part: ChatPart): void {
    const held = this.#held.get(agent)
    if (part.type !== 'text' && part.type !== 'reasoning') {
      this.#flush(agent)
      this.passOn(agent, part)
      return
    }
    if (held !== undefined && held.type !== part.type) this.#flush(agent)
    const text = held?.type === part.type ? held.text + part.text : part.text
    const cut = cutOf(text)
    this.#held.set(agent, { type: part.type, text: text.slice(cut) })
    if (cut > 0) this.passOn(agent, { type: part.type, text: text.slice(0, cut) })
  }

  #flush(agent: string): void {
    const held = this.#held.get(agent)
    this.#held.delete(agent)
    if (held !== undefined && held.text !== '') this.passOn(agent, held)
  }
}

const CLAUSE = /[.,;!?]\s|\n/g
const OPEN_QUOTE = /[:=]\s{0,4}\\?(["'])(?:(?!\1)[^\n])*$/
const OPEN_KEY = /-----BEGIN (?![\s\S]*-----END )/

/** How much of the text can be passed on now. */
function cutOf(text: string): number {
  const ends = [...text.matchAll(CLAUSE)].map((found) => found.index + found[0].length)
  for (const end of ends.reverse().slice(0, ENDS_TRIED_MAX)) {
    const passed = text.slice(0, end)
    if (!OPEN_QUOTE.test(passed) && !OPEN_KEY.test(passed)) return end
  }
  return text.length > HELD_CHARS_MAX ? text.length : 0
}
