import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { makePlace, serve } from './e2e/process.js'
import { untilServed } from './until-served.js'

it('[REQ-TIDY-10] an answer of a server that another test started does not count', async () => {
  const [other, place] = [await makePlace(), await makePlace()]
  onTestFinished(() => {
    other.remove()
    place.remove()
  })
  const running = await serve(other, 'tdd')
  onTestFinished(() => running.kill())
  expect((await fetch(`http://127.0.0.1:${other.port}/ready`)).status).toBe(200)
  await expect(serve({ ...place, port: other.port }, 'tdd')).rejects.toThrow(
    new RegExp(`the server did not start:[^]*${other.port}`),
  )
  expect(existsSync(join(place.stateDir, 'server.json'))).toBe(false)
})

it('[REQ-TIDY-10] what a server prints at its very end is in the message that it did not start', async () => {
  const child = spawn('sh', ['-c', '(sleep 0.3; echo the last line) & exit 1'])
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await expect(untilServed(child, '/nowhere', () => output)).rejects.toThrow('the last line')
})
