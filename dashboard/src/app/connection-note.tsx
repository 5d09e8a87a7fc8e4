import type { ReactNode } from 'react'
import { tryNow } from '../live/connection.js'
import { useConnection } from '../live/use-live.js'
import { Button } from '../ui/button.js'
import { Note } from '../ui/states.js'
import { formatClockSeconds, useNow } from '../ui/time.js'

// A server that restarts is back within this time: no reason to move the page.
const QUIET_MS = 3000

/** Says that the page shows the past, when the connection is lost for more than a moment. */
export function ConnectionNote(): ReactNode {
  const { status, lostAt } = useConnection()
  const now = useNow()
  if (status !== 'retrying' || lostAt === null || now - lostAt < QUIET_MS) return null
  return (
    <div className="lost">
      <Note
        tone="pending"
        icon="bolt"
        title={`Connection lost at ${formatClockSeconds(new Date(lostAt).toISOString())}`}
        actions={<Button onClick={tryNow}>Try now</Button>}
      >
        You see the state of that moment. The page catches up by itself when the server answers again.
      </Note>
    </div>
  )
}
