import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { afterAll } from 'vitest'
import { copyInstalled } from '../forgery/packages.js'
import { findNode, installed } from '../mcp/packages.js'
import { MOCHA_CHAI, NODE_TEST, VITEST } from './javascript-samples.js'
import type { Sample } from './sample.js'
import { describeSamples, GREEN } from './samples.suite.js'

const NODE = findNode('24.21.0')
/** As a version manager keeps it; not in a temporary folder, which commands have for themselves. */
const NVM_DIR = mkdtempSync('/var/tmp/phaselock-nvm-')
const BIN = join(NVM_DIR, 'versions/node/v24.21.0/bin')
afterAll(() => rmSync(NVM_DIR, { recursive: true, force: true }))
if (NODE.ok) cpSync(dirname(NODE.dir), BIN, { recursive: true })

/** The sample with Node.js 24 and these packages. Newer packages do not run with the oldest Node.js that is supported. */
function renew(sample: Sample, packages: readonly string[] = []): Sample {
  return {
    ...sample,
    name: `${packages[0] ?? sample.name} with Node.js 24`,
    environment: { NVM_DIR, PATH: [BIN, process.env.PATH].join(delimiter) },
    install: (dir) => {
      if (!NODE.ok) return NODE.reason
      if (packages.length === 0) return null
      const found = installed(`newest-${packages[0]}`, packages)
      if (!found.ok) return found.reason
      copyInstalled(found)(dir)
      return null
    },
  }
}

describeSamples([renew(NODE_TEST), renew(VITEST, ['vitest@5']), renew(MOCHA_CHAI, ['mocha@12', 'chai@6'])], [GREEN])
