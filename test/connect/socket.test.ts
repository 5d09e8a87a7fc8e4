import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { findSessionSocket, makeSessionSocket } from '../../src/cli/connected/session-socket.js'

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'phaselock-socket-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

it('[REQ-CONNECT-4] a hook finds the session above it, and none when that has ended or belongs to others', async () => {
  const env = { HOME: home }
  expect(findSessionSocket(process.pid, env)).toBeNull()
  const socket = makeSessionSocket(process.ppid, env)
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(socket.path, resolve))
  expect(findSessionSocket(process.pid, env)).toBeNull()
  socket.publish()
  const found = findSessionSocket(process.pid, env)
  expect(found).toBe(join(home, `.local/state/phaselock/.sessions/${process.ppid}.sock`))
  expect(statSync(join(home, '.local/state/phaselock/.sessions')).mode & 0o777).toBe(0o700)
  // The parent of the agent CLI is not part of the session.
  expect(findSessionSocket(1, env)).toBeNull()
  await new Promise((resolve) => server.close(resolve))
  expect(findSessionSocket(process.pid, env)).toBeNull()
  socket.remove()
  socket.remove()
})
