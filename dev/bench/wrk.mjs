// Runs wrk with one request per token, in turn.
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

export function hasWrk() {
  return spawnSync('wrk', ['-v']).error === undefined
}

/** Requests a second and the median latency in milliseconds. */
export function wrk(dir, target) {
  return readResult(execFileSync('wrk', writeArguments(dir, target), { encoding: 'utf8' }))
}

/** The same beside others. */
export async function wrkMeanwhile(dir, target) {
  const { stdout } = await promisify(execFile)('wrk', writeArguments(dir, target), { encoding: 'utf8' })
  return readResult(stdout)
}

function writeArguments(dir, target) {
  const script = join(dir, `wrk-${target.port}.lua`)
  writeFileSync(script, lua(target))
  const url = `http://127.0.0.1:${target.port}${target.path}`
  return ['-t', '1', '-c', String(target.connections), '-d', `${target.seconds}s`, '--latency', '-s', script, url]
}

function readResult(text) {
  const failed = /Non-2xx or 3xx responses: (\d+)/.exec(text)
  if (failed !== null) throw new Error(`${failed[1]} requests were refused:\n${text}`)
  return {
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)[1]),
    p50Ms: milliseconds(/50%\s+([\d.]+)(us|ms|s)/.exec(text)),
    p99Ms: milliseconds(/99%\s+([\d.]+)(us|ms|s)/.exec(text)),
    requests: Number(/(\d+) requests in/.exec(text)[1]),
  }
}

function milliseconds([, value, unit]) {
  return Number(value) * { us: 0.001, ms: 1, s: 1000 }[unit]
}

function lua({ path, requests }) {
  const list = requests.map(({ token, body }) => `{${JSON.stringify(token)}, [[${JSON.stringify(body)}]]}`).join(',\n')
  return `local requests = {${list}}
local at = 0
request = function()
  at = at % #requests + 1
  local one = requests[at]
  return wrk.format("POST", ${JSON.stringify(path)}, {["Content-Type"] = "application/json", ["Authorization"] = "Bearer " .. one[1]}, one[2])
end
`
}
