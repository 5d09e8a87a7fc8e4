// Loaded into the server that pictures are taken of: its clock starts in the past and goes on when the scene says so,
// because a page on which everything happened a second ago shows nothing. SIGUSR2 reads the distance to now again.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const { NODE_OPTIONS: _, ...rest } = process.env
process.env = rest

const FILE = join(process.env.HOME, 'behind')
const RealDate = Date
let behindMs = 0

function readDistance() {
  behindMs = Number(readFileSync(FILE, 'utf8'))
}

globalThis.Date = class extends RealDate {
  constructor(...values) {
    super(...(values.length === 0 ? [RealDate.now() - behindMs] : values))
  }
  static now() {
    return RealDate.now() - behindMs
  }
}
readDistance()
process.on('SIGUSR2', readDistance)
