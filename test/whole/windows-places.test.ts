import { OPERATIONS, type Operation } from './operations.js'
import { describeWindows, IS_WHOLE, ON_MAIN, selectOperations } from './windows.suite.js'

const select = (all: readonly Operation[]): readonly Operation[] => (IS_WHOLE ? all : all.slice(0, 1))

describeWindows('its main thread, with PostgreSQL', {
  ...ON_MAIN,
  store: 'postgres',
  operations: select(OPERATIONS),
  every: 3,
})
for (const provider of ['bubblewrap', 'unshare'])
  describeWindows(`its main thread, with commands in ${provider}`, {
    ...ON_MAIN,
    words: ['--confinement', provider],
    operations: select(selectOperations('bash')),
    every: 3,
  })
