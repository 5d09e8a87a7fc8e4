import { posix } from 'node:path'
import { sha256Hex } from '../../base/sha256.js'
import { listGateCommands } from '../../checks/observed-runs/gate-commands.js'
import { findModuleFolders } from '../../checks/observed-runs/module-folders.js'
import { findStandIns } from '../../checks/observed-runs/stand-ins.js'
import { makeGuard } from '../../checks/test-files/guarded-files.js'
import { importsTestRunner, mayImportRunner } from '../../checks/test-files/runner-imports.js'
import { addsSnapshotsOnly, parseSnapshots } from '../../checks/test-files/snapshots.js'
import { findCompiledTests, isReport, isTestLike, mayWriteFile, readText } from '../../checks/test-files/test-files.js'
import { listProgramFiles } from '../../checks/test-setup/packages.js'
import { readTestSetup } from '../../checks/test-setup/test-setup.js'
import type { Composition, ViewEntry } from '../../confinement/confinement.js'
import type { Contract } from '../../core/contract/contract.js'
import type { PinnedRun } from '../../core/evidence/observed-run.js'
import type { Needs } from '../../core/gates/needs.js'
import { findSnapshotTest } from '../../core/paths/snapshot-names.js'
import { findSetupKind } from '../../core/paths/test-setup-names.js'
import type { TaskState } from '../../core/task/state.js'
import { type ListedFile, NOT_THE_PROJECT, type WorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import { makeIgnored, makeLeftoverMatcher } from '../tool-calls/ignored-paths.js'
import { WORK_BEGAN } from '../trees/trees.js'
import { findRunOutputs, omitWritable, readDependencyChanges } from './dependency-changes.js'
import { buildInlineView, omitInlineTests } from './inline-view.js'

/** The view for the observed runs of a gate. */
export interface ComposedView {
  readonly composition: Composition
  /** Paths that are in the tree but not in the view, without caches, for display. */
  readonly leftOut: readonly string[]
  /** Changes whenever the difference between view and tree changes. */
  readonly digest: string
}

interface Scene {
  readonly app: App
  readonly contract: Contract
  readonly state: TaskState
  readonly tree: WorkTree
  readonly listed: readonly ListedFile[]
  readonly isIgnored: (path: string) => boolean
  /** The record of RED; null before and at RED, and if the contract lets tests change. */
  readonly pins: ReadonlyMap<string, string> | null
  /** The tree when work began; null if unknown. */
  readonly start: Readonly<Record<string, string>> | null
}

/**
 * Composes the view in which a gate's commands run: the tree, with tests and their setup as they were at RED, without
 * newer tests, and with dependencies and ignored files as they were when work began.
 */
export async function composeViewOf(
  app: App,
  contract: Contract,
  state: TaskState,
  about: { readonly tree: WorkTree; readonly needed: Pick<Needs, 'pinsTests'>; readonly pinnedRun: PinnedRun | null },
): Promise<ComposedView> {
  const { tree, needed } = about
  const isIgnored = makeIgnoredMatcher(app, state.workspace)
  // Runs on another thread meanwhile.
  const changes = readDependencyChanges(app, contract, state)
  changes.catch(() => undefined)
  const listed = await tree.list(NOT_THE_PROJECT)
  const isHeld = !needed.pinsTests && !contract.tests.allowChanges && state.pinnedTests !== null
  const recorded = isHeld ? (app.views.findPinsOfRerun(state) ?? state.pinnedTests) : null
  const pins = recorded === null ? null : omitInlineTests(recorded)
  const inline = await buildInlineView(app, state, { tree, pins: recorded, isIgnored })
  const start = app.trees.readMark(state.workspace, state.id, WORK_BEGAN)?.entries ?? null
  const scene: Scene = { app, contract, state, tree, listed, isIgnored, pins, start }
  const tests = listed.map(({ path }) => path).filter((path) => isTestLike(contract, path) && !isIgnored(path))
  const late = pins === null ? [] : await findLateTests(scene, { tests, pins })
  const stood = await findAddedStandIns(scene, pins === null ? tests : [...pins.keys()])
  const made = listOldCompilerOutputs(scene, await tree.listFolder('dist'))
  const changed = await changes
  const dependencies = omitWritable(changed ?? [], contract, isIgnored)
  const told = [...late, ...stood, ...dependencies].filter((path) => pins?.has(path) !== true)
  const leftOut = [...told, ...made.filter((path) => pins?.has(path) !== true)]
  const put = pins === null ? [] : [...(await buildEntriesFromPins(scene, pins, leftOut)), ...inline.put]
  const pinned = new Set([
    ...(pins?.keys() ?? tests),
    ...inline.files,
    ...(await listSetupPaths(scene, about.pinnedRun)),
  ])
  for (const path of await linkTargets(scene, pinned)) pinned.add(path)
  const isOut = new Set(leftOut)
  const outputs = await findRunOutputs(app, contract, state, { paths: pinned, changed, isIgnored })
  for (const path of pinned)
    if (isReport(contract, path) || isOut.has(path) || mayWriteFile(contract, path) || outputs.has(path))
      pinned.delete(path)
  const isHeldByName = makeGuard(contract, tests)
  const isGuarded = (path: string): boolean => !isIgnored(path) && isHeldByName(path)
  const isLeft = makeLeftoverMatcher((folder) => app.trees.isSource(state.workspace, folder))
  return {
    composition: { put, leftOut, pinned: [...pinned], programs: await listPrograms(contract, tree, pinned), isGuarded },
    leftOut: [...told.filter((path) => !isLeft(path, false) && !isLeft(path, true)), ...inline.late],
    digest: hashComposition(put, leftOut, recorded),
  }
}

// A test or a configuration file does not count as one, whatever package.json says.
async function listPrograms(
  contract: Contract,
  tree: WorkTree,
  pinned: ReadonlySet<string>,
): Promise<readonly string[]> {
  const texts = new Map<string, string>()
  for (const path of pinned)
    if (findSetupKind(path) === 'package_json') texts.set(path, (await readText(tree, path)) ?? '')
  const isProgram = (path: string): boolean => findSetupKind(path) === null && !isTestLike(contract, path)
  return listProgramFiles(texts).filter((path) => pinned.has(path) && isProgram(path))
}

/** Whether a path is ignored by the rules at the start of work, or is left behind by tools. */
export function makeIgnoredMatcher(app: Pick<App, 'trees'>, tree: string): (path: string) => boolean {
  const isIgnored = makeIgnored(app.trees.getIgnoreRules(tree))
  const isLeft = makeLeftoverMatcher((folder) => app.trees.isSource(tree, folder))
  const known = new Map<string, boolean>()
  // Everything in an ignored folder is ignored.
  const isFolderIgnored = (folder: string): boolean => {
    if (folder === '.') return false
    const before = known.get(folder)
    if (before !== undefined) return before
    const is = isFolderIgnored(posix.dirname(folder)) || isIgnored(folder, true) || isLeft(folder, true)
    known.set(folder, is)
    return is
  }
  return (path) => isFolderIgnored(posix.dirname(path)) || isIgnored(path, false) || isLeft(path, false)
}

async function findLateTests(
  scene: Scene,
  { tests, pins }: { readonly tests: readonly string[]; readonly pins: ReadonlyMap<string, string> },
): Promise<readonly string[]> {
  const { start } = scene
  const isNewTest = (path: string): boolean => start !== null && start[path] !== `file ${pins.get(path) ?? ''}`
  const isLate = (path: string): boolean => !pins.has(path)
  const unknown = tests.filter(isLate)
  const snapshots = await findNewSnapshots(scene, unknown, (test) => pins.has(test) && isNewTest(test))
  const late = unknown.filter((path) => !snapshots.has(path))
  const named = new Set(tests)
  for (const { path, isLink } of scene.listed) {
    if (isLink || start === null || start[path] !== undefined || named.has(path) || !isLate(path)) continue
    if (scene.isIgnored(path) || !mayImportRunner(path)) continue
    if (await importsTestRunner(path, (await readText(scene.tree, path)) ?? '')) late.push(path)
  }
  return late
}

// Outdated compiler output must not run in place of a test. Its build record is removed too, because it would claim
// that the output is current.
function listOldCompilerOutputs(scene: Scene, output: readonly ListedFile[]): readonly string[] {
  const { contract, isIgnored } = scene
  const paths = [...scene.listed, ...output].map(({ path }) => path)
  const compiled = findCompiledTests(contract, paths, isIgnored)
  const records = compiled.size === 0 ? [] : paths.filter((path) => /\.tsbuildinfo$/.test(path) && isIgnored(path))
  return [...compiled, ...records]
}

// A snapshot is created when its test first passes. It holds texts and nothing that is run.
async function findNewSnapshots(
  { tree }: Scene,
  paths: readonly string[],
  isNewTest: (test: string) => boolean,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for (const path of paths) {
    const test = findSnapshotTest(path)
    if (test === null || !isNewTest(test)) continue
    const text = (await tree.read(path))?.toString('utf8')
    if (text !== undefined && parseSnapshots(text) !== null) found.add(path)
  }
  return found
}

async function findAddedStandIns(scene: Scene, tests: readonly string[]): Promise<readonly string[]> {
  const { start } = scene
  if (start === null) return []
  const added = scene.listed.map(({ path }) => path).filter((path) => start[path] === undefined)
  return added.length === 0
    ? []
    : findStandIns({
        ...{ tree: scene.tree, root: scene.state.workspace, added, tests, path: process.env.PATH ?? '' },
        folders: await findModuleFolders(scene.tree, scene.contract, scene.listed),
        wasThere: (path) => start[path] !== undefined,
        isOld: (folder) => Object.keys(start).some((path) => path.startsWith(folder)),
      })
}

async function buildEntriesFromPins(
  { app, state, tree }: Scene,
  pins: ReadonlyMap<string, string>,
  leftOut: readonly string[],
): Promise<readonly ViewEntry[]> {
  const put: ViewEntry[] = []
  const folders = new Set(leftOut)
  const isBelow = (path: string): boolean => path !== '.' && (folders.has(path) || isBelow(posix.dirname(path)))
  const now = await tree.hashEach(pins.keys())
  for (const [path, hash] of pins) {
    if (!isBelow(path) && now.get(path) === hash) continue
    const entry = app.views.findPinned(state.id, path, hash)
    if (entry === null) throw new Error(`the content of ${path} at RED was not saved`)
    if (!isBelow(path) && entry.type === 'file' && findSnapshotTest(path) !== null) {
      const text = (await tree.read(path))?.toString('utf8')
      if (text !== undefined && addsSnapshotsOnly(entry.content.toString('utf8'), text)) continue
    }
    put.push(entry)
  }
  return put
}

async function listSetupPaths(scene: Scene, pinnedRun: PinnedRun | null): Promise<readonly string[]> {
  const { contract, tree } = scene
  if (scene.pins !== null && pinnedRun?.harness !== undefined)
    return [pinnedRun.harness, ...Object.values(pinnedRun.commands ?? {})].flatMap((one) => Object.keys(one))
  const paths = Object.keys(await readTestSetup(tree, contract))
  for (const [, command] of listGateCommands(contract))
    paths.push(...Object.keys(await readTestSetup(tree, contract, [], { of: 'command', commands: [command] })))
  return paths
}

// The target of a pinned link is read through the link.
async function linkTargets({ listed, app, state }: Scene, pinned: ReadonlySet<string>): Promise<readonly string[]> {
  const links = listed.filter(({ path, isLink }) => isLink && pinned.has(path))
  return links.flatMap(({ path }) => {
    const [, target] = /^link (.*)$/s.exec(app.trees.findExpectedEntry(state.workspace, path) ?? '') ?? []
    const to = target === undefined ? '..' : posix.join(posix.dirname(path), target)
    const below = listed.flatMap((one) => (one.path.startsWith(`${to.replace(/\/$/, '')}/`) ? [one.path] : []))
    return to.startsWith('..') || to.startsWith('/') ? [] : [to, ...below]
  })
}

function hashComposition(put: readonly ViewEntry[], leftOut: readonly string[], pins: Scene['pins']): string {
  const parts = [put.map(({ path }) => path), leftOut, put.length === 0 ? null : [...(pins ?? [])]]
  return sha256Hex(JSON.stringify(parts))
}
