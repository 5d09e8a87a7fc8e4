import type { Contract } from '../../core/contract/contract.js'
import { NOT_THE_PROJECT } from '../../tree/work-tree.js'
import { abortCheck, type Check, failCheck, passCheck } from '../check-inputs.js'
import type { ReadTree } from '../test-setup/scope.js'
import { buildInlineRecord, type InlineTests, isRust } from './inline-tests.js'
import { importsTestRunner } from './runner-imports.js'
import { isReport, isSource, isTestLike, mayWriteFile } from './test-files.js'

const NAMED_MAX = 5

/**
 * Every test that existed when work began is unchanged: test files by their content, and tests inside Rust sources in
 * whichever file they are now. Tests may be added where the phase permits it.
 */
export const checkTestsAsAtStart: Check = async ({ contract, tree, start }) => {
  if (start === undefined || start === null)
    return abortCheck('the work tree at the start of the task was not recorded', 'artifact')
  const then = (await start.tree.list(NOT_THE_PROJECT)).filter(({ isLink }) => !isLink).map(({ path }) => path)
  const asked = then.filter((path) => isTestLike(contract, path) || isSource(path))
  const now = await tree.hashEach(asked)
  const moved: string[] = []
  const rust: string[] = []
  for (const path of asked) {
    if (now.get(path) === (await start.tree.hash(path))) continue
    if (await wasTest(contract, start.tree, path)) moved.push(now.get(path) == null ? `${path} (gone)` : path)
    else if (isRust(path)) rust.push(path)
  }
  const lost = rust.length === 0 ? [] : await findLostInline({ start: start.tree, tree, changed: rust })
  const all = [...moved, ...lost]
  if (all.length === 0) return passCheck('the tests are as they were', 'artifact')
  const more = all.length > NAMED_MAX ? ` and ${all.length - NAMED_MAX} more` : ''
  return failCheck(`changed since work began: ${all.slice(0, NAMED_MAX).join(', ')}${more}`, 'artifact')
}

async function wasTest(contract: Contract, start: ReadTree, path: string): Promise<boolean> {
  if (isReport(contract, path) || mayWriteFile(contract, path)) return false
  if (isTestLike(contract, path)) return true
  return isSource(path) && importsTestRunner(path, (await start.read(path))?.toString('utf8') ?? '')
}

// Code may move together with its tests: each test must be found in a file that changed or is new.
async function findLostInline(one: {
  readonly start: ReadTree
  readonly tree: ReadTree
  readonly changed: readonly string[]
}): Promise<readonly string[]> {
  const { start, tree, changed } = one
  const known = new Set((await start.list(NOT_THE_PROJECT)).map(({ path }) => path))
  const listed = (await tree.list(NOT_THE_PROJECT)).filter(({ path, isLink }) => !isLink && isRust(path))
  const files = listed.map(({ path }) => path).filter((path) => changed.includes(path) || !known.has(path))
  const found: InlineTests[] = []
  for (const path of files) found.push(await readInline(tree, path))
  const left = found.flatMap(({ items }) => items.map(([, , text]) => text))
  const lost: string[] = []
  let mentions = found.reduce((sum, tests) => sum + tests.mentions, 0)
  for (const path of changed) {
    const before = await readInline(start, path)
    mentions -= before.mentions
    for (const [, name, text] of before.items) {
      const at = left.indexOf(text)
      if (at === -1) lost.push(`${path} (${name.replace(/^\w+ /, '')})`)
      else left.splice(at, 1)
    }
  }
  return mentions > 0 ? [...lost, 'code that asks whether it is being tested, cfg(test) outside of tests'] : lost
}

async function readInline(tree: ReadTree, path: string): Promise<InlineTests> {
  const { content } = await buildInlineRecord(path, (await tree.read(path))?.toString('utf8') ?? '')
  return JSON.parse(content) as InlineTests
}
