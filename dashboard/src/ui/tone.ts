/** What a colour says. Neutral things have none. */
export type Tone = 'neutral' | 'allowed' | 'refused' | 'pending' | 'parked' | 'running'

export function toToneClass(tone: Tone): string {
  return tone === 'neutral' ? 'tone' : `tone-${tone}`
}
