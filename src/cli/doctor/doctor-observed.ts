import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type MemoryFacts, PERL, probeMemory } from '../../confinement/runner-memory.js'
import { GO_CACHE, GoCache } from '../../confinement/view/go-cache.js'
import { buildHostView } from '../../confinement/view/host-view.js'
import { type Finding, ok, warning } from '../finding.js'
import { surveyFolder } from '../init/survey.js'

/** Requirements of observed test runs on this machine and in this repository. */
export function checkObservedRuns(workspace: string, stateDir: string): readonly Finding[] {
  return process.platform === 'linux' ? [checkMemory(probeMemory()), ...cacheFindings(workspace, stateDir)] : []
}

/** Whether a test run can access the memory of the processes that judge it. */
export function checkMemory({ kernel, hasPerl, isKeptApart, isScoped }: MemoryFacts): Finding {
  const name = 'runner memory'
  const held = isScoped ? 'kernel.yama.ptrace_scope' : 'Landlock'
  if (isScoped || (hasPerl && isKeptApart)) return ok(name, `out of reach of code under test (${held})`)
  const why = hasPerl
    ? `Landlock is not enabled in this kernel, Linux ${kernel}`
    : `${PERL} is missing, which sets up Landlock`
  const get = hasPerl
    ? 'Enable Landlock (Linux 5.19 or newer, boot parameter lsm=landlock,…)'
    : `Install perl as ${PERL}`
  return warning(
    name,
    `parents' memory stays writable: code under test can write to npm and its runner (${why})`,
    `${get}, or run as root: sysctl -w kernel.yama.ptrace_scope=1`,
  )
}

/** Packages and caches that the tests of this repository need: observed runs have no network. */
function cacheFindings(workspace: string, stateDir: string): readonly Finding[] {
  const name = 'caches for tests'
  const has = (file: string): boolean => existsSync(join(workspace, file))
  const shown = new Map(buildHostView().toolchains.map((toolchain) => [toolchain.name, toolchain]))
  const missing = (what: string, run: string): readonly Finding[] => [
    warning(name, `${what}; observed runs have no network`, `Run: ${run}`),
  ]
  const { because } = surveyFolder(workspace)
  const says = (pattern: RegExp, file = because): boolean =>
    has(file) && pattern.test(readFileSync(join(workspace, file), 'utf8'))
  switch (because) {
    case 'package.json':
      return says(/"(?:dev)?[dD]ependencies"\s*:\s*\{\s*"/) && !has('node_modules')
        ? missing('package.json names packages, and there is no node_modules', 'npm ci')
        : []
    case 'go.mod':
      return [
        goLibrary(name, stateDir),
        ...(says(/^\s*require\b/m) && !has('vendor') && shown.get('go')?.variables.GOMODCACHE === undefined
          ? missing('go.mod names modules, and there is no module cache', 'go mod download')
          : []),
      ]
    case 'Cargo.toml':
      return says(/^source = "registry/m, 'Cargo.lock') && shown.get('rust')?.variables.CARGO_HOME === undefined
        ? missing('Cargo.lock names crates, and there is no registry of cargo', 'cargo fetch')
        : []
    case 'pom.xml':
      return shown.has('maven')
        ? []
        : missing('there is no repository of Maven (~/.m2/repository)', 'mvn dependency:go-offline')
    case 'build.gradle':
    case 'build.gradle.kts':
      return shown.has('gradle') ? [] : missing('there is no cache of Gradle (~/.gradle/caches)', './gradlew test')
    default:
      return []
  }
}

function goLibrary(name: string, stateDir: string): Finding {
  const folder = join(stateDir, GO_CACHE)
  const isReady = new GoCache(folder, process.env).findReadyFolder() !== null
  const detail = isReady ? 'is compiled' : 'is compiled with the first baseline, about 100 MB'
  return ok(name, `Go's standard library ${detail} (${folder})`)
}
