// Makes docs/pictures/demo.svg from a real run of the demo: `npm run record-demo`.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../../', import.meta.url)
const FILE = new URL('docs/pictures/demo.svg', ROOT)

const ROWS = 26
const LINE_PX = 19
const CHAR_PX = 7.83
const COLUMNS = 82
const BAR_PX = 34
const PAD_PX = 16
const STEP_MS = { line: 110, reason: 260, heading: 900, end: 5000 }

const COLOURS = {
  plain: '#c9d1d9',
  faint: '#8b949e',
  ok: '#56d364',
  waits: '#e3b341',
  refused: '#ff7b72',
  head: '#ffffff',
}

/** The recording as an animated SVG. It depends on the text only: times are the same for every run. */
export function renderRecording(output) {
  const lines = chooseLines(output)
  const times = listTimes(lines)
  const lengthMs = (times.at(-1) ?? 0) + STEP_MS.end
  const [width, height] = [Math.ceil(COLUMNS * CHAR_PX + 2 * PAD_PX), BAR_PX + ROWS * LINE_PX + PAD_PX]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="The demo: an honest agent finishes, a cheating agent is refused 17 times">
<style>
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:${COLOURS.plain};white-space:pre}
.f{fill:${COLOURS.faint}}.o{fill:${COLOURS.ok}}.w{fill:${COLOURS.waits}}.r{fill:${COLOURS.refused};font-weight:bold}.h{fill:${COLOURS.head};font-weight:bold}
.lines{animation:scroll ${lengthMs}ms step-end infinite}.cover{animation:reveal ${lengthMs}ms step-end infinite}
@keyframes scroll{${listFrames(times, lengthMs, (shown) => -Math.max(0, shown - ROWS) * LINE_PX)}}
@keyframes reveal{${listFrames(times, lengthMs, (shown) => Math.min(shown, ROWS) * LINE_PX)}}
@media (prefers-reduced-motion:reduce){.lines,.cover{animation:none}.cover{display:none}}
</style>
<rect width="${width}" height="${height}" rx="10" fill="#0d1117"/>
<circle cx="20" cy="17" r="5.5" fill="#ff5f57"/><circle cx="38" cy="17" r="5.5" fill="#febc2e"/><circle cx="56" cy="17" r="5.5" fill="#28c840"/>
<text x="${width / 2}" y="21" text-anchor="middle" class="f">phaselock demo</text>
<clipPath id="screen"><rect x="0" y="${BAR_PX}" width="${width}" height="${ROWS * LINE_PX + 4}"/></clipPath>
<g clip-path="url(#screen)"><g class="lines">
${lines.map((line, index) => `<text x="${PAD_PX}" y="${BAR_PX + 14 + index * LINE_PX}">${paintLine(line)}</text>`).join('\n')}
</g><rect class="cover" x="0" y="${BAR_PX}" width="${width}" height="${ROWS * LINE_PX + 4}" fill="#0d1117"/></g>
</svg>
`
}

/** What the recording shows: both agents and the score, without the reports and without what differs in each run. */
function chooseLines(output) {
  const all = output
    .replace(/happens in\s+\S+\.\n/, 'happens in a temporary folder.\n')
    .replace(/^Watch it in a browser.*\n.*\n/m, '')
    .replace(/apr-\d+-/g, 'apr-…-')
    .replace(/commit [0-9a-f]{7}/, 'commit …      ')
    .replace(/run in a sandbox: .*/, 'run in a sandbox.')
    .replace(/: \d+ events/, ': … events')
    .split('\n')
  const start = all.findIndex((line) => line.startsWith('Two agents'))
  const reports = all.indexOf('Report')
  const end = all.findIndex((line) => line.startsWith('The ledger is intact'))
  const score = all.findIndex((line) => line.startsWith('Score:'))
  return ['$ phaselock demo', ...all.slice(start, reports), ...all.slice(end, score + 1)]
}

function listTimes(lines) {
  let at = 0
  return lines.map((line, index) => {
    const before = lines[index - 1] ?? ''
    if (index > 0)
      at += isHeading(line) ? STEP_MS.heading : / refused {2}\w+$/.test(before) ? STEP_MS.line : STEP_MS.reason
    return at
  })
}

function listFrames(times, lengthMs, place) {
  const frames = times.map((time, index) => [time, place(index + 1)])
  const changed = frames.filter(([, y], index) => index === 0 || y !== frames[index - 1]?.[1])
  return changed.map(([time, y]) => `${((time / lengthMs) * 100).toFixed(2)}%{transform:translateY(${y}px)}`).join('')
}

const isHeading = (line) => /^(?:\$ |An? \w+ agent[,:]|Score:)/.test(line)

function paintLine(line) {
  if (isHeading(line)) return `<tspan class="h">${escapeText(line)}</tspan>`
  const step = /^(.{4,49}?\s{2,})(ok|waits|refused)\b(.*)$/.exec(line)
  if (step === null) return /^ {4,}\S/.test(line) ? `<tspan class="f">${escapeText(line)}</tspan>` : escapeText(line)
  const [, what = '', word = '', rest = ''] = step
  return `${escapeText(what)}<tspan class="${word[0]}">${word}</tspan>${escapeText(rest)}`
}

function escapeText(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const program = fileURLToPath(new URL('bin/phaselock', ROOT))
  const ran = spawnSync(process.execPath, [program, 'demo', '--fast'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (ran.status !== 0) throw new Error(`the demo ended with ${ran.status}:\n${ran.stdout}`)
  mkdirSync(new URL('.', FILE), { recursive: true })
  writeFileSync(FILE, renderRecording(ran.stdout))
}
