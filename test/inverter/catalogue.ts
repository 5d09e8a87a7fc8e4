import * as go from '../../src/inverter/go/rules.js'
import * as javascript from '../../src/inverter/javascript/rules.js'
import * as python from '../../src/inverter/python/rules.js'
import { nameRule as namePythonRule } from '../../src/inverter/python/sites.js'
import * as rust from '../../src/inverter/rust/rules.js'

type Entry = readonly [assertion: string, rule: string]

function fromJavaScript(table: javascript.RuleTable): readonly Entry[] {
  return Object.entries(table).map(([name, rule]) => [name, javascript.nameRule(rule) ?? 'left alone'])
}

function fromPython(table: python.RuleTable): readonly Entry[] {
  return Object.entries(table).map(([name, rule]) => [
    name,
    rule.turn === 'leave' ? 'left alone' : namePythonRule(rule),
  ])
}

const LIBRARIES: readonly (readonly [language: string, library: string, entries: readonly Entry[]])[] = [
  ['JavaScript', 'node:assert, `t.assert`, uvu/assert', fromJavaScript(javascript.NODE_ASSERT)],
  ['JavaScript', 'jest, vitest: `expect`', fromJavaScript(javascript.JEST)],
  ['JavaScript', 'chai: `expect`, `should`', fromJavaScript(javascript.CHAI_EXPECT)],
  ['JavaScript', 'chai: `assert`', fromJavaScript(javascript.CHAI_ASSERT)],
  ['JavaScript', 'tape, tap', fromJavaScript(javascript.TAP)],
  ['JavaScript', 'ava', fromJavaScript(javascript.AVA)],
  ['Python', '`assert`', Object.entries(python.COMPARISONS).map(([sign, { rule }]) => [sign, rule])],
  ['Python', 'pytest', fromPython(python.PYTEST)],
  ['Python', 'unittest', fromPython(python.UNITTEST)],
  ['Python', 'unittest.mock', fromPython(python.MOCK)],
  [
    'Go',
    'testify',
    [
      ...Object.keys(go.TESTIFY_LITERALS).map((name): Entry => [name, 'literal']),
      ...[...new Set([...go.TESTIFY_OPPOSITES.keys(), ...go.TESTIFY_OTHERS])]
        .filter((name) => !name.endsWith('f'))
        .map((name): Entry => [name, 'negated']),
    ],
  ],
  ['Go', 'gomega', [...go.GOMEGA_OPPOSITES.keys()].map((name): Entry => [name, 'negated'])],
  ['Rust', 'std', [...rust.EQUALITY.keys()].map((name): Entry => [`${name}!`, 'negated'])],
]

/** The lines of the table in docs/internals/inverted-run-rules.md. */
export function tableOfRules(): readonly string[] {
  return LIBRARIES.flatMap(([language, library, entries]) => {
    const rules = [...new Set(entries.map(([, rule]) => rule))].toSorted()
    return rules.map((rule) => {
      const names = entries.filter((entry) => entry[1] === rule).map(([name]) => `\`${name}\``)
      return `| ${language} | ${library} | ${rule === 'left alone' ? rule : `\`${rule}\``} | ${names.toSorted().join(' ')} |`
    })
  })
}
