// Loaded into a node before its program: the clock of its machine is off by what a file says.
import { readFileSync } from 'node:fs'

const file = process.env.PHASELOCK_TEST_CLOCK_FILE ?? ''
const TrueDate = Date
let offMs = 0

function look() {
  try {
    offMs = Number(readFileSync(file, 'utf8')) || 0
  } catch {
    offMs = 0
  }
}

look()
setInterval(look, 200).unref()

globalThis.Date = class extends TrueDate {
  constructor(...words) {
    if (words.length === 0) super(TrueDate.now() + offMs)
    else super(...words)
  }

  static now() {
    return TrueDate.now() + offMs
  }
}
