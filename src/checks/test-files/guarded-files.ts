import type { Contract } from '../../core/contract/contract.js'
import { findSetupKind, isNearTests, isShadowNear, isTestName } from '../../core/paths/test-setup-names.js'
import { isSource, isTestLike } from './test-files.js'

/**
 * Matches files that a run may not write even if they were not there before: tests and their setup, by path alone.
 * Ignored paths are the caller's concern.
 */
export function makeGuard(contract: Contract, tests: readonly string[]): (path: string) => boolean {
  return (path) => !TEMPORARY.test(path) && (isTestFile(contract, path) || isSetup(path, tests))
}

// Data that a run writes next to its tests is not a test.
function isTestFile(contract: Contract, path: string): boolean {
  return isTestName(path) || (isSource(path) && isTestLike(contract, path))
}

// A test may create a project elsewhere; only files around the tests decide how they are run.
function isSetup(path: string, tests: readonly string[]): boolean {
  if (findSetupKind(path) === null) return false
  return isNearTests(path, tests) || isShadowNear(path, tests) || LOADED_ANYWHERE.test(path)
}

const LOADED_ANYWHERE = /(^|\/)__mocks__\/|-info\/|\.pth$/

// Vite writes a bundled copy of its configuration next to it and removes it again.
const TEMPORARY = /\.timestamp-[\w-]+\.mjs$/
