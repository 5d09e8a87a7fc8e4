const FROM = 'A cheating agent, '
const HOLLOW = 'does nothing: its test skips the assertion'
const LAST_SHOWN = / 8 {2}/

/** The part of the output that the README shows: what the cheating agent tries first, what only the inverted run finds, and how it ends. */
export function excerpt(output: string): string {
  const lines = output.split('\n')
  const begin = lines.findIndex((line) => line.startsWith(FROM))
  const eighth = lines.findIndex((line) => LAST_SHOWN.test(line.slice(0, 4)))
  const end = lines.findIndex((line, at) => at > eighth && /^[ \d]\d {2}\S/.test(line))
  const hollow = lines.findIndex((line) => line.includes(HOLLOW))
  const close = lines.findIndex((line) => line.startsWith('The ledger is '))
  return `${[...lines.slice(begin, end), '…', ...lines.slice(hollow, hollow + 3), '…', ...lines.slice(close, close + 3)].map(normal).join('\n')}\n`
}

function normal(line: string): string {
  return line.replace(/apr-\d+-cheating/g, 'apr-…').replace(/: \d+ events/, ': … events')
}
