#!/usr/bin/env node
// Stands in for Docker or Podman: takes their arguments, writes them down, and runs the server as a plain process. The
// folder STAND_IN holds what an engine would: images, volumes and containers.
import { spawn } from 'node:child_process'
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'

const dir = process.env.STAND_IN
const args = process.argv.slice(2)
const [verb, ...rest] = args
const last = args.at(-1)
const place = (kind, name) => join(dir, kind, name.replaceAll('/', '_'))
const fail = (text, code = 1) => {
  console.error(text)
  process.exit(code)
}
for (const kind of ['images', 'volumes', 'containers']) mkdirSync(join(dir, kind), { recursive: true })
appendFileSync(join(dir, 'calls.jsonl'), `${JSON.stringify([basename(process.argv[1]), ...args])}\n`)
const inside = (path) =>
  path.replace('/var/lib/phaselock', place('volumes', readFileSync(join(dir, 'mounted'), 'utf8')))

const VERBS = {
  '--version': () => console.log('stand-in 1.0'),
  info: () => (existsSync(join(dir, 'silent')) ? fail('Cannot connect to the engine') : console.log('false')),
  image: () => (existsSync(place('images', last)) ? console.log('[]') : fail('no such image')),
  build: () => {
    for (const name of ['package.json', 'bin/phaselock', 'dist/program/main.js', 'contracts/tdd.yaml'])
      if (!existsSync(join(last, name))) fail(`the context has no ${name}`)
    if (existsSync(join(last, 'node_modules'))) fail('the context has node_modules')
    writeFileSync(place('images', rest[rest.indexOf('-t') + 1]), '')
  },
  pull: () => fail('no network'),
  run: () => {
    const name = rest[rest.indexOf('--name') + 1]
    writeFileSync(join(dir, 'mounted'), name)
    mkdirSync(place('volumes', name), { recursive: true })
    // On the loopback, because there is no container around it.
    const serve = rest.slice(rest.indexOf('serve')).filter((word) => word !== '--insecure-http')
    serve[serve.indexOf('--host') + 1] = '127.0.0.1'
    const log = openSync(join(dir, 'log'), 'a')
    const words = existsSync(join(dir, 'broken')) ? ['serve', '--port', 'x'] : serve.map(inside)
    const env = { ...process.env, PATH: process.env.FULL_PATH, PHASELOCK_CONTAINER: '1' }
    const child = spawn(process.env.SCRIPT, words, { detached: true, stdio: ['ignore', log, log], env })
    closeSync(log)
    writeFileSync(place('containers', name), String(child.pid))
    child.unref()
  },
  exec: () => {
    try {
      process.stdout.write(readFileSync(inside(last), 'utf8'))
    } catch {
      fail('no such file')
    }
  },
  inspect: () => console.log(String(isRunning(last))),
  logs: () => process.stdout.write(readFileSync(join(dir, 'log'), 'utf8')),
  stop: async () => {
    process.kill(Number(readFileSync(place('containers', last), 'utf8')), 'SIGTERM')
    while (isRunning(last)) await new Promise((resolve) => setTimeout(resolve, 50))
  },
  rm: () => rmSync(place('containers', last), { force: true }),
}
await (VERBS[verb] ?? (() => fail(`unknown: ${verb}`)))()

function isRunning(name) {
  try {
    process.kill(Number(readFileSync(place('containers', name), 'utf8')), 0)
    return true
  } catch {
    return false
  }
}
