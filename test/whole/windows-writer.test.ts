import { OPERATIONS } from './operations.js'
import { describeWindows, ON_WRITER, selectOperations, takeFirst } from './windows.suite.js'

describeWindows('the thread that writes the ledger', {
  ...ON_WRITER,
  operations: takeFirst(OPERATIONS.filter(({ event }) => event.tool !== 'bash')),
})
describeWindows('the thread that writes the ledger: commands', {
  ...ON_WRITER,
  operations: takeFirst(selectOperations('bash')),
})
