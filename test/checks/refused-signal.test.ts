import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { findRefusedSignal } from '../../src/checks/refused-signal.js'

function writeProject(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'refused-signal-'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

const TIMED_OUT = { stdout: '', stderr: '', stopped: 'timeout' }
const SENDS = "process.kill(child.pid, 'SIGUSR1')\n"

it.each([
  ['src/a.js', "process.on('SIGUSR1', reload)\n"],
  ['src/b.js', "process.removeAllListeners('SIGUSR1')\nprocess.emit('SIGUSR1')\n"],
  ['src/c.py', 'import signal\nsignal.signal(signal.SIGUSR1, reload)\n'],
  ['src/d.go', 'signal.Notify(reloads, syscall.SIGUSR1)\n'],
  ['src/e.sh', 'trap reload USR1\n'],
  ['tests/f.test.js', '// SIGUSR1 reloads it\n'],
])('[REQ-INIT-8] %s does not send SIGUSR1 and is not named', async (path, text) => {
  expect(await findRefusedSignal(writeProject({ [path]: text }), TIMED_OUT)).toBeNull()
})

it.each([
  ['tests/a.test.js', SENDS],
  ['tests/b.test.js', "for (const signal of ['SIGINT', 'SIGUSR1']) child.kill(signal)\n"],
  ['tests/c.test.js', `process.on('SIGUSR1', reload)\n${SENDS}`],
  ['tests/test_d.py', 'os.kill(child.pid, signal.SIGUSR1)\n'],
  ['src/e_test.go', 'syscall.Kill(pid, syscall.SIGUSR1)\n'],
  ['tests/f.sh', 'kill -USR1 $pid\n'],
  ['tests/g.sh', "trap 'kill -USR1 $pid' EXIT\n"],
])('[REQ-INIT-8] %s sends SIGUSR1 and is named', async (path, text) => {
  expect(await findRefusedSignal(writeProject({ [path]: text }), TIMED_OUT)).toContain(`${path} names SIGUSR1`)
})

it('[REQ-INIT-8] of several files, one that the output names is named', async () => {
  const root = writeProject({ 'tests/a.test.js': SENDS, 'tests/b.test.js': SENDS })
  expect(await findRefusedSignal(root, TIMED_OUT)).toContain('tests/a.test.js')
  const stdout = `location: '${root}/tests/b.test.js:14:1'\nerror: 'kill EPERM'\n`
  expect(await findRefusedSignal(root, { stdout, stderr: '', stopped: 'aborted' })).toContain('tests/b.test.js')
  expect(await findRefusedSignal(root, { stdout: 'not ok 1', stderr: '', stopped: null })).toBeNull()
})
