import { existsSync } from 'node:fs'
import { delimiter } from 'node:path'
import { packagePath } from '../../package/package-root.js'

/** What is loaded into the processes of an observed run before anything of the project; shown to it read-only. */
export const GUARDS_FOLDER = packagePath('runtime/test-guards')

/** Part of what a kept run depends on: one that was made under weaker guards is not taken for one of these. */
export const GUARDS_VERSION = 3

const NODE_GUARD = `${GUARDS_FOLDER}/node/guard.cjs`
const PYTHON_FOLDER = `${GUARDS_FOLDER}/python`

/** The environment of a command with the guards in it, in front of what the contract asks Node.js and Python to load. */
export function addGuards(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const nodeOptions = joinParts([`--require ${quotePath(NODE_GUARD)}`, env.NODE_OPTIONS], ' ')
  return {
    ...env,
    NODE_OPTIONS: nodeOptions,
    // npm sets NODE_OPTIONS anew from an .npmrc of the project, unless the environment says otherwise.
    npm_config_node_options: nodeOptions,
    PYTHONPATH: joinParts([PYTHON_FOLDER, env.PYTHONPATH], delimiter),
  }
}

const NATIVE_RUNNER = `${GUARDS_FOLDER}/native/without-sources`

/**
 * The environment in which the test programs of Go and cargo run without these sources. Where perl is missing, they run with them.
 * Unless the command runs a single package of Go (`isOnePackage`), packages are built and run one after the other, so that no
 * program runs while another is compiled.
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

// Node.js does not start without a file that it is told to load. Python does.
const UNLESS_GUARDED =
  'l="$2"; c="$3"; [ -r "$1" ] || { echo "phaselock: the guards are not there" >&2; exit 126; }; [ -z "$c" ] || cp -rs "$c" "$GOCACHE" 2>/dev/null; shift 3; exec "$@" bash -c "$l"'
/** Keeps what it runs away from the memory of processes that ran before. */
const ENTER = existsSync('/usr/bin/perl') ? [`${GUARDS_FOLDER}/enter/run`] : []

/**
 * Runs a shell line where the guards can be read, and nothing where they cannot. With a cache of Go, its files are linked to where
 * the run has its own.
 */
export function buildGuardedArgv(line: string, goCache: string | null = null): readonly string[] {
  return ['bash', '-c', UNLESS_GUARDED, 'bash', `${PYTHON_FOLDER}/sitecustomize.py`, line, goCache ?? '', ...ENTER]
}

function joinParts(parts: readonly (string | undefined)[], separator: string): string {
  return parts.filter((part) => part !== undefined && part !== '').join(separator)
}

function quotePath(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
