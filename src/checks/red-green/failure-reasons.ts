import { posix } from 'node:path'
import { isAtOrBelow } from '../../base/is-at-or-below.js'
import type { ObservedLoadFailure } from '../../core/evidence/observed-run.js'
import type { CheckInputs } from '../check-inputs.js'
import { parseCauseLine } from '../reports/causes.js'
import { isPythonPackage } from '../test-files/python-packages.js'
import { readText } from '../test-files/test-files.js'

const ASSERTION = /\bAssertionError\b|^assert\b|^(?:Error: )?expect(?:ed)?\b|\bstrictly (?:deep-)?equal|\bReceived:/i
// An assertion that only passes on a failure from elsewhere.
const PASSED_ON = /\bGot unwanted (?:exception|rejection)/
export const CONNECTION =
  /\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENETDOWN)\b|\bgetaddrinfo\b|connection refused|ConnectionRefusedError|Failed to establish a new connection|Max retries exceeded|Name or service not known|Temporary failure in name resolution|Network is unreachable|\bfetch failed\b|\bdial (?:tcp|unix)\b|socket hang up|could not connect to/i
export const TIMEOUT =
  /\btimed out\b|\bETIMEDOUT\b|\btimeout of \d{1,9} ?ms\b|\bexceeded timeout\b|\bTimeoutError\b|\bdeadline exceeded\b/i

/** Why the failure of a test says nothing about the project's behaviour; null when it may. */
export async function findReasonAgainst(
  inputs: Pick<CheckInputs, 'tree'>,
  failed: { readonly message: string | null; readonly file: string },
): Promise<string | null> {
  const message = failed.message ?? ''
  const cause = parseCauseLine(message)
  if (cause?.kind === 'missing_module') {
    const failure = { ...cause, kind: cause.kind, file: failed.file }
    return (await isOfProject(inputs, failure, failed.file)) ? null : describeMissingPackage(cause.module)
  }
  if (ASSERTION.test(message) && !PASSED_ON.test(message)) return null
  if (CONNECTION.test(message)) return `could not connect (${shortenMessage(message)})${NAME_SERVICES}`
  return TIMEOUT.test(message) ? `timed out (${shortenMessage(message)})` : null
}

const NAME_SERVICES = '; an operator names the services that tests need in commands.tests.services of the contract'

/**
 * Why a file that did not load says nothing about the project's behaviour; null when it waits for code of the project.
 */
export async function findReasonAgainstLoad(
  inputs: Pick<CheckInputs, 'tree'>,
  failure: ObservedLoadFailure,
  file: string,
): Promise<string | null> {
  if (failure.kind === 'syntax') return `has a syntax error (${shortenMessage(failure.message)})`
  if (failure.kind === 'other') return `did not run its tests (${shortenMessage(failure.message)})`
  return (await isOfProject(inputs, failure, file)) ? null : describeMissingPackage(failure.module ?? null)
}

function describeMissingPackage(module: string | null): string {
  return `fails because ${module ?? 'a package'} is not installed and is not part of the project`
}

const SHORT_CHARS_MAX = 120

function shortenMessage(message: string): string {
  return message.length > SHORT_CHARS_MAX ? `${message.slice(0, SHORT_CHARS_MAX)}…` : message
}

async function isOfProject(
  { tree }: Pick<CheckInputs, 'tree'>,
  { module, message }: Pick<ObservedLoadFailure, 'module' | 'message'>,
  file: string,
): Promise<boolean> {
  const name = module ?? ''
  if (/\.go$/.test(file)) return isGoName(tree, { name, message, file })
  if (/\.rs$/.test(file)) return isRustName(tree, { name, message, file })
  if (/\.py$/.test(file)) return isPythonModule(tree, name, file)
  return isScript(file) ? isScriptModule(tree, { name, message }) : true
}

function isScript(file: string): boolean {
  return /\.[cm]?[jt]sx?$/.test(file)
}

type Tree = CheckInputs['tree']
const OWN_SPECIFIER = /^(?:\.|\/|#|~|@\/|file:)/
// About a name in the code, not a module.
const SYMBOL = /\berror TS(?:2304|2339|2551|2552)\b/

async function isScriptModule(tree: Tree, { name, message }: { readonly name: string; readonly message: string }) {
  if (SYMBOL.test(message)) return true
  // Node.js names modules of the project by their full path.
  const [, absolute] = /^[^'"]{0,400}['"](\/[^'"]{1,400})['"]/.exec(message) ?? []
  if (absolute !== undefined) return !absolute.includes('/node_modules/')
  const specifier = name.startsWith('#') ? name : (name.split('#')[0] ?? '')
  if (OWN_SPECIFIER.test(specifier)) return true
  const packageName = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
  const manifest = (await readText(tree, 'package.json')) ?? ''
  if (new RegExp(`"name"\\s*:\\s*"${escapePattern(packageName)}"`).test(manifest)) return true
  if (/\bpackage ['"]/.test(message)) return false
  const paths = (await readText(tree, 'tsconfig.json')) ?? ''
  if (paths.includes(`"${packageName}/*"`) || paths.includes(`"${specifier}"`)) return true
  const [folder = ''] = specifier.split('/')
  return specifier.includes('/') && (await hasFilesBelow(tree, folder))
}

async function hasFilesBelow(tree: Tree, folder: string): Promise<boolean> {
  const list = await tree.list({ anywhere: new Set(['.git', 'node_modules']), atRoot: new Set() })
  return list.some(({ path }) => path.startsWith(`${folder}/`))
}

// A module that is not written yet has an unknown name: only declared or well-known names are packages.
async function isPythonModule(tree: Tree, name: string, file: string): Promise<boolean> {
  const [root = ''] = name.split('.')
  for (const base of ['', 'src/', `${posix.dirname(file)}/`]) {
    if ((await tree.hash(`${base}${root}.py`)) !== null || (await hasFilesBelow(tree, `${base}${root}`))) return true
  }
  if (isPythonPackage(root)) return false
  const declared: string[] = []
  for (const path of ['requirements.txt', 'requirements-dev.txt', 'pyproject.toml', 'setup.py', 'setup.cfg', 'Pipfile'])
    declared.push((await readText(tree, path)) ?? '')
  const named = new RegExp(`(?:^|["'\\s])${escapePattern(root).replaceAll('_', '[-_]')}\\s*(?:[=<>~!\\[;"',]|$)`, 'im')
  // A project's own name is in its pyproject too.
  return !declared.some((text) => named.test(text.replace(/^\s*name\s*=.*$/gm, '')))
}

async function isGoName(
  tree: Tree,
  { name, message, file }: { readonly name: string; readonly message: string; readonly file: string },
): Promise<boolean> {
  const own = /^module\s+(\S+)/m.exec((await readText(tree, 'go.mod')) ?? '')?.[1] ?? ''
  const isOwn = (path: string): boolean => own !== '' && isAtOrBelow(own, path)
  if (/^no required module|^package \S+ is not in|^cannot find|^could not import/.test(message)) return isOwn(name)
  const [qualifier = '', symbol] = name.split('.')
  if (symbol === undefined) return true
  const imports = [
    ...((await readText(tree, file)) ?? '').matchAll(/^\s*(?:import\s+)?(?:(\w+)\s+)?"([^"\n]{1,400})"/gm),
  ]
  const path = imports.find(([, alias, path = '']) => (alias ?? path.split('/').at(-1)) === qualifier)?.[2]
  return path === undefined || isOwn(path)
}

async function isRustName(
  tree: Tree,
  { name, message, file }: { readonly name: string; readonly message: string; readonly file: string },
): Promise<boolean> {
  const [root = '', ...rest] = name.split('::')
  const own = /^name\s*=\s*"([^"\n]{1,200})"/m.exec((await readText(tree, 'Cargo.toml')) ?? '')?.[1] ?? ''
  const isOwn = ['crate', 'self', 'super', own.replaceAll('-', '_')].includes(root)
  // Below src it may be a module that is not written yet; a test outside accesses these through the name of its crate.
  if (!isOwn && /\b(or|unlinked|undeclared|missing|find) crate\b/.test(message) && !/(^|\/)src\//.test(file))
    return false
  return isOwn || (rest.length === 0 && !(await isRustDependency(tree, root)))
}

async function isRustDependency(tree: Tree, name: string): Promise<boolean> {
  const manifest = (await readText(tree, 'Cargo.toml')) ?? ''
  return new RegExp(`^${escapePattern(name).replaceAll('_', '[-_]')}\\s*=`, 'm').test(manifest)
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
