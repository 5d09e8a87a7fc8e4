import { describeWindows, ON_MAIN, selectOperations } from './windows.suite.js'

describeWindows('its main thread: commits, installs, and what operators do', {
  ...ON_MAIN,
  operations: selectOperations('git_commit', undefined),
})
