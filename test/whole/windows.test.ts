import { describeWindows, ON_MAIN, selectOperations, takeFirst } from './windows.suite.js'

describeWindows('its main thread: file tools', {
  ...ON_MAIN,
  operations: takeFirst(selectOperations('write_files', 'edit_files')),
})
describeWindows('its main thread: commands', { ...ON_MAIN, operations: takeFirst(selectOperations('bash')) })
