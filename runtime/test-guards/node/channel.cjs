'use strict'
// The runner reports what it knows on a socket of Phaselock, in addition to the report that the command writes. The
// connection is opened
// before code under test is loaded: code that runs later can add to the reports, but not take anything back.
const { existsSync, writeSync } = require('node:fs')
const { connect } = require('node:net')

const AT = '/run/phaselock/report.sock'
// Taken before a test replaces any of them.
const { stringify } = JSON
const toBytes = Buffer.from
const NESTED = ['JEST_WORKER_ID', 'VITEST_POOL_ID', 'VITEST_WORKER_ID', 'NODE_TEST_CONTEXT']

/** The function that reports tests, or null if nobody listens or a test started this runner. */
function openChannel(runner) {
  if (!existsSync(AT) || NESTED.some((name) => process.env[name] !== undefined)) return null
  const socket = connect(AT)
  socket.on('error', () => undefined)
  socket.unref()
  const fd = socket._handle?.fd
  const tell = (message) => {
    const bytes = toBytes(`${stringify(message)}\n`)
    for (let sent = 0; sent < bytes.length; ) {
      try {
        sent += writeSync(fd, bytes, sent)
      } catch (error) {
        if (error?.code === 'EAGAIN') continue
        // A test may have replaced the file system.
        socket.write(bytes.subarray(sent))
        return
      }
    }
  }
  tell({ runner })
  return {
    test: (name, status, isParent = false) =>
      tell(isParent ? { test: name, status, isParent } : { test: name, status }),
    end: () => tell({ end: true }),
  }
}

module.exports = { openChannel }
