// Reads a transcript to its end in a process of its own and says what it added up and how much memory that took.
import { readFileSync } from 'node:fs'
import { readTranscript } from '../../dist/transcripts/read-transcript.js'

const [path, folder] = process.argv.slice(2)
const outputs = new Map()
const said = { calls: 0, turns: 0, malformed: 0, skippedBytes: 0, cursorBytes: 0 }
for (let cursor = null, more = true; more; said.calls += 1) {
  const reading = await readTranscript(path, cursor, { folders: [{ path: folder, format: 'claude-code' }] })
  if (!reading.ok) throw new Error(reading.problem)
  for (const usage of reading.usage) outputs.set(usage.id, Math.max(outputs.get(usage.id) ?? 0, usage.output))
  said.turns += reading.turns
  said.malformed += reading.malformed
  said.skippedBytes += reading.skippedBytes
  said.cursorBytes = Math.max(said.cursorBytes, JSON.stringify(reading.cursor).length)
  cursor = reading.cursor
  more = reading.more
}
const output = [...outputs.values()].reduce((sum, one) => sum + one, 0)
// The most that this program held: what `resourceUsage` says includes the process that it was forked from.
const held = /VmHWM:\s*(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
process.stdout.write(JSON.stringify({ ...said, output, residentMegabytes: Number(held) / 1024 }))
