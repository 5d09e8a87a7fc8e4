import type { CoordinationRun } from '../../core/councils/council.js'
import { plainJson, plainText } from '../../core/plain-text.js'
import { print, printJson } from '../terminal/terminal.js'
import { readScreenSize } from '../terminal/top-screen.js'
import { renderLanes } from './agent-rows.js'
import { Board } from './council-board.js'
import { answerOf, buildResult, endText } from './council-end.js'
import { formatCouncilEventLine } from './event-lines.js'
import { type Live, NOTHING_YET } from './live-council.js'
import type { WatchedItem } from './watch-council.js'

const DRAW_MS = 100

/** How a council is shown while it runs, and its result. */
export interface Show {
  /** `live` is the state after the event or piece. */
  readonly see: (seen: WatchedItem, live: Live) => void
  /** A message for people that is not an event. */
  readonly say: (text: string) => void
  readonly end: (run: CoordinationRun, live: Live) => void
  /** Restores the terminal, however the council ended. */
  readonly close: () => void
}

const doNothing = (): void => undefined

/** One JSON document at the end. */
export function makeJsonShow(): Show {
  return { see: doNothing, say: doNothing, end: (run, live) => printJson(buildResult(run, live)), close: doNothing }
}

/** Every event and every piece of a stream as a line of JSON, and the result as the last one. */
export function makeJsonLinesShow(started: object): Show {
  const line = (event: string, fields: object): void => print(plainJson({ event, ...fields }))
  line('started', started)
  return {
    see: (seen) => (seen.kind === 'part' ? line('part', seen.part) : line(seen.view.type, seen.view)),
    say: doNothing,
    end: (run, live) => line('result', buildResult(run, live)),
    close: doNothing,
  }
}

/** Only the answer. */
export function makeQuietShow(): Show {
  const end = (run: CoordinationRun, live: Live): void => {
    const answer = answerOf(run, live)
    if (answer !== null) print(plainText(answer.content))
  }
  return { see: doNothing, say: doNothing, end, close: doNothing }
}

/** One line per event. */
export function makePlainShow(): Show {
  return {
    see: (seen, live) => {
      const line = formatLogLine(seen, live)
      if (line !== null) print(line)
    },
    say: print,
    end: (run, live) => print(`\n${endText(run, live)}`),
    close: doNothing,
  }
}

/** A block of lines per agent, drawn in place; events appear above them. */
export function makeLanesShow(): Show {
  const board = new Board()
  let live = NOTHING_YET
  let drawnAt = 0
  const draw = (said: readonly string[] = []): void => {
    const now = Date.now()
    if (said.length === 0 && now - drawnAt < DRAW_MS) return
    drawnAt = now
    // The last row stays free for the cursor.
    const { columns, rows } = readScreenSize()
    board.draw(renderLanes(live, { columns, rows: rows - 1 }, now), said)
  }
  const timer = setInterval(draw, DRAW_MS)
  const redraw = (): void => draw()
  process.stdout.on('resize', redraw)
  let isClosed = false
  const close = (): void => {
    if (isClosed) return
    isClosed = true
    clearInterval(timer)
    process.stdout.off('resize', redraw)
    board.close()
  }
  return {
    see: (seen, after) => {
      live = after
      const line = formatLogLine(seen, after)
      draw(line === null ? [] : [line])
    },
    say: (text) => draw(text.trimEnd().split('\n')),
    end: (run, after) => {
      close()
      print(`\n${endText(run, after)}`)
    },
    close,
  }
}

function formatLogLine(seen: WatchedItem, { run }: Live): string | null {
  return seen.kind === 'part' || seen.event === null || run === null ? null : formatCouncilEventLine(run, seen.event)
}
