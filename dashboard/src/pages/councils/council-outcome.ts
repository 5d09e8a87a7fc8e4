import type { IconName } from '../../ui/icon.js'
import type { Tone } from '../../ui/tone.js'

export interface Outcome {
  readonly word: string
  readonly tone: Tone
  readonly icon: IconName
}

/** How a council stands, in a few words. */
export function findOutcome(finishReason: string, winner: string | null): Outcome {
  switch (finishReason) {
    case 'in_progress':
      return { word: 'Running', tone: 'running', icon: 'play' }
    case 'cancelled':
      return { word: 'Cancelled', tone: 'neutral', icon: 'x-circle' }
    case 'error':
      return { word: 'Failed', tone: 'refused', icon: 'x-circle' }
    default:
      if (winner !== null) return { word: `${winner} won`, tone: 'allowed', icon: 'ok-circle' }
      return { word: finishReason === 'timeout' ? 'Time ran out' : 'No winner', tone: 'pending', icon: 'clock' }
  }
}
