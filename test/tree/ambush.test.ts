import { chownSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openTreeWriter } from '../../src/tree/write/tree-writer.js'
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
    for (let n = 0; n < TRIES; n += 1) {
      await writer.commit([{ type: 'make_directory', path: `top/made-${n}` }])
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    expect(await ambush.stop()).toBeGreaterThan(TRIES / 10)
    const preys = readdirSync(top).filter((name) => existsSync(join(top, name, 'mark')))
    expect(preys.map((name) => statSync(join(top, name)).uid)).toEqual([0])
    place.remove()
  })
})
