import * as goRules from './go/rules.js'
import * as javascriptModules from './javascript/modules.js'
import * as pythonRules from './python/rules.js'
import * as rustRules from './rust/rules.js'

const WITHOUT_RULES: ReadonlySet<string> = new Set([
  ...pythonRules.OTHER_LIBRARIES,
  ...goRules.OTHER_LIBRARIES,
  ...Object.values(rustRules.OTHER_LIBRARIES),
])

/** Whether an assertion library is known but has no rules. */
export function isWithoutRules(library: string): boolean {
  return WITHOUT_RULES.has(library) || javascriptModules.OTHER_LIBRARIES.test(library)
}
