import { chownSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openTreeWriter } from '../../src/tree/tree-writer.js'
import { makePlace } from './place.js'
import { hasExchange, startAmbush } from './swap.js'

const canRun = process.geteuid?.() === 0 && hasExchange
const TRIES = 400

describe('root that makes directories in the tree of somebody else', () => {
  it.runIf(canRun)('[REQ-TREE-8] never gives away a directory that was put in the place of the new one', async () => {
    const place = makePlace()
    const top = join(place.tree, 'top')
    mkdirSync(join(top, 'prey'), { recursive: true })
    writeFileSync(join(top, 'prey/mark'), 'of root')
    chownSync(top, 4321, 4321)
    const writer = openTreeWriter(place.tree)
    const ambush = await startAmbush(join(top, 'made-'), join(top, 'prey'))
    let given = 0
    for (let n = 0; n < TRIES; n += 1) {
      await writer.commit([{ type: 'make_directory', path: `top/made-${n}` }])
      await new Promise((resolve) => setTimeout(resolve, 2))
      const prey = [join(top, `made-${n}`), join(top, 'prey')].find((path) => existsSync(join(path, 'mark')))
      if (prey !== undefined && statSync(prey).uid !== 0) given += 1
    }
    const swaps = await ambush.stop()
    expect(swaps).toBeGreaterThan(TRIES / 10)
    expect(given).toBe(0)
    place.remove()
  })
})
