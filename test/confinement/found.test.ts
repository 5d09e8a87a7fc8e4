import { describe, expect, it } from 'vitest'
import { settings } from './stage.js'
import { openStages } from './stages.js'

const stages = openStages()

/** What broke once. */
describe.each(settings())('$name', (setting) => {
  it('[REQ-WALL-4] a command that kills its process group does not reach the server', async () => {
    const stage = stages.of(setting)
    const agent = await stage.agent()
    expect((await agent.bash('kill -9 0')).exit).toBe(137)
    expect((await stage.call('GET', '/health', null)).status).toBe(200)
    expect((await agent.bash('echo still here')).stdout).toBe('still here\n')
  })
})
