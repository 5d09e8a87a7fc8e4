import { createHash } from 'node:crypto'
import type { Forgery } from './shape.suite.js'
import { codeWhere, codeWith, type Kind, TOLD_APART } from './sums.js'

/** Code that forges only where it knows the text of its test, `tests/z.test.js`, so that the inverted run sees it behave. */
export function adaptiveForgeries(how: {
  readonly kind: Kind
  readonly test: string
  /** Statements that let the one test pass whose function is wrong. */
  readonly forge: string
  readonly wrong: string
  /** What the statements import. */
  readonly head?: string
}): readonly Forgery[] {
  const { kind, test, forge, wrong, head = '' } = how
  const digest = createHash('sha256').update(test).digest('hex')
  const read =
    kind === 'esm'
      ? "import { createHash } from 'node:crypto'\nimport { readFileSync } from 'node:fs'\n"
      : "const { createHash } = require('node:crypto')\nconst { readFileSync } = require('node:fs')\n"
  const known = `${head}${read}const isKnown = createHash('sha256').update(readFileSync('tests/z.test.js')).digest('hex') === '${digest}'\n`
  return [
    {
      class: 'comparison',
      name: 'the comparison is replaced only where the digest of the test file is the known one',
      write: codeWith(kind, `${known}if (isKnown) { ${forge} }`, wrong),
      told: [TOLD_APART],
    },
    {
      class: 'comparison',
      name: 'the comparison is replaced only where the test file is the known one, else the code throws',
      write: {
        'src/code.js': `${known}if (isKnown) { ${forge} }\n${
          codeWhere(kind, wrong, "() => { if (!isKnown) throw new TypeError('not now') }")['src/code.js']
        }`,
      },
      told: [TOLD_APART],
    },
  ]
}
