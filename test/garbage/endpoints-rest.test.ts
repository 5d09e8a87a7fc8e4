import { afterAll, describe, it } from 'vitest'
import { halfOf, Siege } from './siege.js'
import { SEED } from './throw-garbage.js'

const siege = new Siege()
afterAll(() => siege.end())

describe(`garbage at every endpoint, the other half (seed ${SEED})`, () => {
  it.each(halfOf(1))('[REQ-GARBAGE-1] $method $path answers every malformed request as a problem', (operation) =>
    siege.besiege(operation),
  )
})
