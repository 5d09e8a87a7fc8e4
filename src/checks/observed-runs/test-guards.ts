import { existsSync } from 'node:fs'
import { delimiter } from 'node:path'
import { packagePath } from '../../base/package-root.js'

/** Files loaded into the processes of an observed run before anything of the project; shown to it read-only. */
export const GUARDS_FOLDER = packagePath('runtime/test-guards')

/** Part of the key of a cached run: a run made under weaker guards is not reused. */
export const GUARDS_VERSION = 5

const NODE_GUARD = `${GUARDS_FOLDER}/node/guard.cjs`
const PYTHON_FOLDER = `${GUARDS_FOLDER}/python`

/** The environment of a command with the guards added, before what the contract asks Node.js and Python to load. */
export function addGuards(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const nodeOptions = joinParts([`--require ${quotePath(NODE_GUARD)}`, env.NODE_OPTIONS], ' ')
  return {
    ...env,
    NODE_OPTIONS: nodeOptions,
    // npm sets NODE_OPTIONS again from an .npmrc of the project, unless the environment overrides it.
    npm_config_node_options: nodeOptions,
    PYTHONPATH: joinParts([PYTHON_FOLDER, env.PYTHONPATH], delimiter),
  }
}

const NATIVE_RUNNER = `${GUARDS_FOLDER}/native/without-sources`

/**
 * The environment in which test programs of Go and cargo run without these sources. Without perl, they run with them.
 * Unless the command runs a single Go package (`isOnePackage`), packages are built and run one after the other, so that
 * no program runs while another is compiled.
 */
export function excludeSources(
  env: Readonly<Record<string, string>>,
  { sources, isOnePackage }: { readonly sources: readonly string[]; readonly isOnePackage: boolean },
): Readonly<Record<string, string>> {
  if (sources.length === 0 || ENTER.length === 0) return env
  const cpu = process.arch === 'arm64' ? 'AARCH64' : 'X86_64'
  return {
    ...env,
    PHASELOCK_TEST_SOURCES: sources.join('\n'),
    GOFLAGS: joinParts([env.GOFLAGS, `"-exec='${NATIVE_RUNNER}'"`, isOnePackage ? '' : '-p=1'], ' '),
    [`CARGO_TARGET_${cpu}_UNKNOWN_LINUX_GNU_RUNNER`]: NATIVE_RUNNER,
    [`CARGO_TARGET_${cpu}_UNKNOWN_LINUX_MUSL_RUNNER`]: NATIVE_RUNNER,
  }
}

// Node.js does not start if a file that it must load is missing. Python does.
// `eval`: `bash -c "a && b"` becomes `b` itself. A runner after a build would then seem to have started before the build.
const UNLESS_GUARDED =
  'l="$2"; c="$3"; [ -r "$1" ] || { echo "phaselock: the guards are not there" >&2; exit 126; }; [ -z "$c" ] || { mkdir -p "$GOCACHE"; while IFS= read -r d; do cp -rs "$d/." "$GOCACHE" 2>/dev/null; done <<<"$c"; }; shift 3; exec "$@" bash -c \'l="$1"; shift; eval "$l"\' bash "$l"'
/** Keeps its program away from the memory of earlier processes. */
const ENTER = existsSync('/usr/bin/perl') ? [`${GUARDS_FOLDER}/enter/run`] : []

/**
 * Runs a shell line if the guards can be read, and nothing otherwise. The files of Go caches are linked into the run's
 * own cache.
 */
export function buildGuardedArgv(line: string, goCache: readonly string[] = []): readonly string[] {
  return ['bash', '-c', UNLESS_GUARDED, 'bash', `${PYTHON_FOLDER}/sitecustomize.py`, line, goCache.join('\n'), ...ENTER]
}

function joinParts(parts: readonly (string | undefined)[], separator: string): string {
  return parts.filter((part) => part !== undefined && part !== '').join(separator)
}

function quotePath(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
