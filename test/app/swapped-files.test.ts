import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { findTestFiles } from '../../src/app/test-runs/pin-tests.js'
import { Trees } from '../../src/app/trees/trees.js'
import { loadContractText } from '../../src/contract/load/load-contract.js'
import type { Contract } from '../../src/core/contract/contract.js'
import { openWorkTree } from '../../src/tree/work-tree.js'
import { built } from '../cli/program.js'

const LONG_AGO = 1_000_000
// Longer than a file counts as written just now.
const SETTLED_MS = 2_100

let dir: string
let root: string
let trees: Trees
let contract: Contract
beforeAll(async () => {
  await built()
  const text = 'name: x\nversion: "1"\nextends: [phaselock/tdd, phaselock/javascript-node-test]\n'
  const loaded = await loadContractText(text, { file: 'x.yaml', baseDir: null })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.diagnostics))
  contract = loaded.contract
}, 120_000)
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'phaselock-swapped-'))
  root = join(dir, 'tree')
  put('src/plain.mjs', "import 'node:path'\n")
  put('src/runner.mjs', "import 'node:test'\n")
  put('src/said.mjs', "export const name = 'node:test' // only a name\n")
  put('tests/a.test.mjs', '')
  trees = new Trees(join(dir, 'state'))
})
afterEach(async () => {
  await trees.close()
  rmSync(dir, { recursive: true, force: true })
})

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
  utimesSync(join(root, path), LONG_AGO, LONG_AGO)
}

/** The files that RED would record, as a gate finds them. */
async function findTests(): Promise<readonly string[]> {
  const looked = await trees.compare(root)
  const tree = openWorkTree(root, { reusesNames: true })
  return Object.keys(await findTestFiles(contract, tree, () => false, looked)).toSorted()
}

const AT_FIRST = ['src/runner.mjs', 'tests/a.test.mjs']

test('[REQ-TREE-11] a file that was swapped between two gates is recorded, though its size and time are the same', async () => {
  expect(await findTests()).toEqual(AT_FIRST)
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS))
  expect(await findTests(), 'known by now').toEqual(AT_FIRST)
  put('src/plain.mjs', "import 'node:test'\n")
  expect(await findTests(), 'written over').toEqual(['src/plain.mjs', ...AT_FIRST])
  put('src/plain.mjs', "import 'node:path'\n")
  expect(await findTests()).toEqual(AT_FIRST)
  put('other', "import 'node:test'\n")
  renameSync(join(root, 'other'), join(root, 'src/plain.mjs'))
  expect(await findTests(), 'another file in its place').toEqual(['src/plain.mjs', ...AT_FIRST])
})

test('[REQ-TREE-11] without a look at the tree, and for files that the look leaves out, every file is read', async () => {
  const tree = openWorkTree(root, { reusesNames: true })
  const isIgnored = (): boolean => false
  expect(Object.keys(await findTestFiles(contract, tree, isIgnored)).toSorted()).toEqual(AT_FIRST)
  const looked = await trees.compare(root)
  put('src/late.mjs', "import 'node:test'\n")
  expect(Object.keys(await findTestFiles(contract, tree, isIgnored, looked))).toContain('src/late.mjs')
})
