import { posix } from 'node:path'
import { harnessKind, isTestName } from '../../core/pinned-names.js'
import { withSuffixes } from './words.js'

const TEXT_CHARS_MAX = 256 * 1024
const NAMED_MAX = 2000

/**
 * The paths that a script may import or run, relative to the root: by relative imports, and by words in its text that look like
 * the path of a script. Too many rather than too few, but without what is under test: sources and tests have their own rules.
 */
export function loadedBy(path: string, whole: string): readonly string[] {
  const text = whole.slice(0, TEXT_CHARS_MAX)
  const folder = posix.dirname(path)
  const named = PYTHON.test(path) ? modulesIn(text) : SHELL.test(path) ? [] : importsIn(text)
  const words = [...new Set(variablesOut(text).match(PATH_LIKE) ?? [])].slice(0, NAMED_MAX)
  const found = [
    ...named.map((one) => posix.join(folder, one)),
    ...words.flatMap((word) => [posix.join(folder, word), posix.join('.', word)]),
  ]
  return [...new Set(found)].filter((one) => one !== path && !one.startsWith('..') && isScript(folder, one))
}

const PYTHON = /\.pyw?$/
const SHELL = /\.(ba|z|k)?sh$/
const PATH_LIKE = /(?:[\w@.-]*\/)+[\w@.-]+|[\w@-][\w@.-]*\.(?:[cm]?[jt]sx?|(?:ba|z|k)?sh|py|rb|pl|json)\b/g

function importsIn(text: string): readonly string[] {
  return [...text.matchAll(IMPORTS)].slice(0, NAMED_MAX).flatMap(([, path = '']) => [
    ...withSuffixes(path),
    // TypeScript imports its own files under the names that they are compiled to.
    ...(/\.[cm]?js$/.test(path) ? [path.replace(/js$/, 'ts')] : []),
  ])
}

const IMPORTS = /(?:from|import|require|URL)\s*\(?\s*['"`](\.{1,2}\/[^'"`\n]{1,500})['"`]/g

// What Python finds beside the script that it was started with.
function modulesIn(text: string): readonly string[] {
  const names = [...text.matchAll(PYTHON_IMPORTS)].flatMap(([, from, list]) => from ?? (list ?? '').split(/\s*,\s*/))
  return names.slice(0, NAMED_MAX).flatMap((name) => {
    const module = name.replace(/^\.+/, '').replaceAll('.', '/')
    return [`${module}.py`, `${module}/__init__.py`]
  })
}

const PYTHON_IMPORTS = /^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import|import[ \t]+([\w., \t]+))/gm

// `"$(dirname "$0")/lib.sh"` and `$HERE/lib.sh` lie in some folder of the project.
function variablesOut(text: string): string {
  return text.replace(/\$\{[^}\n]{0,200}\}|\$\([^)\n]{0,200}\)|\$\w+/g, '.')
}

// An implementation may change what it is made of. Scripts are what lies with the script that loads them, or with other scripts.
function isScript(folder: string, path: string): boolean {
  const kind = harnessKind(path)
  if ((kind !== null && kind !== 'whole') || isTestName(path) || SOURCES.test(path)) return false
  if (!path.includes('/')) return !ENTRY.test(path)
  return (folder !== '.' && path.startsWith(`${folder}/`)) || SCRIPTS.test(path) || SHELL.test(path)
}

const SOURCES = /^(src|lib|app|dist|docs?)\/|\/src\//
const ENTRY = /^(index|main|app|server|cli|lib|mod|setup)\.\w+$|\.(md|txt|lock)$|^(package-lock|npm-shrinkwrap)\.json$/
const SCRIPTS = /^(\.?scripts?|\.?tools?|tooling|\.?ci|hack|dev|\.?config|build-tools|support|\.github\/scripts)\//
