import { forEachChild, parse } from 'unbash'
import type { CallCommand } from '../core/tool-calls/call-facts.js'

const SHELL_CHARS_MAX = 100_000
const NESTING_MAX = 8
const COMMANDS_MAX = 500

interface ShellReading {
  readonly commands: readonly CallCommand[]
  /** Why the line could not be read; null when it could. */
  readonly problem: string | null
}

/**
 * Every simple command in a shell line: in lists, pipes, substitutions, functions and here-documents, and what `env`,
 * `bash -c`, `xargs` and the like would start. It tells an agent early and clearly; the protection itself is the
 * sandbox.
 */
export function readShell(line: string): ShellReading {
  const found: CallCommand[] = []
  const problem = collect(line, found, 0)
  return problem === null ? { commands: found, problem: null } : { commands: [], problem }
}

type Words = readonly (string | null)[]
type ShellNode = Parameters<Parameters<typeof forEachChild>[1]>[0]

function collect(line: string, found: CallCommand[], depth: number): string | null {
  if (depth > NESTING_MAX) return 'shells nested too deeply'
  if (line.length > SHELL_CHARS_MAX) return `longer than ${SHELL_CHARS_MAX} characters`
  if (line.includes('\0')) return 'it contains a NUL character'
  const script = parse(line)
  const [error] = script.errors ?? []
  if (error !== undefined) return error.message
  let problem: string | null = null
  const visit = (node: ShellNode): void => {
    if (problem !== null) return
    if (found.length > COMMANDS_MAX) problem = `more than ${COMMANDS_MAX} commands`
    const errors = node.type === 'Script' ? (node as { errors?: readonly { message: string }[] }).errors : undefined
    if (errors !== undefined && errors[0] !== undefined) problem = errors[0].message
    if (node.type === 'Command') problem ??= findDangerousAssignment(node.prefix)
    if (node.type === 'Command' && node.name !== undefined) {
      const words = [node.name, ...node.args].map((word) => (word.type === 'Word' ? getStaticText(word) : word.text))
      problem ??= unwrap(words, found, depth)
    }
    forEachChild(node, visit)
  }
  visit(script as ShellNode)
  return problem
}

// These change what a later word runs: the command line would not show it.
const DANGEROUS =
  /^(PATH|ENV|BASH_ENV|IFS|SHELL|EDITOR|PAGER|NODE_OPTIONS|PERL5OPT|PERL5LIB|RUBYOPT|JAVA_TOOL_OPTIONS|LD_.*|DYLD_.*|PYTHON.*|GIT_.*|npm_config_.*)$/i

function findDangerousAssignment(prefix: readonly { readonly type: string }[]): string | null {
  for (const one of prefix as readonly { readonly type: string; readonly name?: unknown }[])
    if (one.type === 'Assignment' && typeof one.name === 'string' && DANGEROUS.test(one.name))
      return `it sets ${one.name}, which changes what runs`
  return null
}

interface WordLike {
  readonly value: string
  readonly parts?: readonly { readonly type: string; readonly parts?: unknown }[] | undefined
}

const STATIC_PARTS = new Set(['Literal', 'SingleQuoted', 'AnsiCQuoted'])

function getStaticText(word: WordLike): string | null {
  const parts = word.parts ?? []
  const isStatic = parts.every(
    (part) =>
      STATIC_PARTS.has(part.type) ||
      (part.type === 'DoubleQuoted' &&
        (part.parts as readonly { type: string }[]).every((child) => child.type === 'Literal')),
  )
  return isStatic ? word.value : null
}

// Programs that start the command given to them, with their options that take a value.
const WRAPPERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['env', ['-u', '--unset', '-C', '--chdir']],
  ['command', []],
  ['builtin', []],
  ['exec', ['-a']],
  ['nohup', []],
  ['nice', ['-n', '--adjustment']],
  ['ionice', ['-c', '-n', '-p']],
  ['setsid', []],
  ['stdbuf', ['-i', '-o', '-e']],
  ['time', ['-f', '-o']],
  ['timeout', ['-s', '--signal', '-k', '--kill-after']],
  ['sudo', ['-u', '-g', '-C', '-D', '-h', '-p', '-r', '-t']],
  ['doas', ['-u', '-C']],
  ['xargs', ['-a', '-d', '-E', '-I', '-i', '-L', '-l', '-n', '-P', '-s']],
  ['parallel', ['-j', '-n', '-N']],
  ['watch', ['-n', '--interval']],
  ['busybox', []],
  ['flock', ['-w', '--timeout', '-E']],
  ['chroot', []],
  ['unshare', []],
  ['runuser', ['-u', '-g']],
])
const POSITIONALS_BEFORE: ReadonlyMap<string, number> = new Map([
  ['timeout', 1],
  ['flock', 1],
  ['chroot', 1],
])
const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash'])

function unwrap(words: Words, found: CallCommand[], depth: number): string | null {
  if (depth > NESTING_MAX) return 'commands nested too deeply'
  const name = getProgramName(words[0])
  const into = { found, depth }
  if (name !== null && SHELLS.has(name)) return unwrapShell(words, into)
  if (name === 'eval') return parseInner(words, joinWords(words.slice(1)), into)
  if (name === 'trap') return parseInner(words, words[1], into)
  if (name === 'find' || name === 'fd') return unwrapFind(words, found, depth)
  const valued = name === null ? undefined : WRAPPERS.get(name)
  if (name === null || valued === undefined) {
    found.push({ words, isWrapper: false })
    return null
  }
  return unwrapWrapper(words, { name, valued, ...into })
}

interface ParseTarget {
  readonly found: CallCommand[]
  readonly depth: number
}

// `bash -c script`, `bash file`, or a shell that reads commands from its input, which is unknown here.
function unwrapShell(words: Words, into: ParseTarget): string | null {
  const flag = words.findIndex((word) => word !== null && /^-[A-Za-z]*c[A-Za-z]*$/.test(word))
  if (flag !== -1)
    return parseInner(
      words,
      words.slice(flag + 1).find((word) => word === null || !/^-/.test(word)),
      into,
    )
  const hasScript = words.slice(1).some((word) => word === null || !word.startsWith('-'))
  if (hasScript) into.found.push({ words, isWrapper: false })
  else into.found.push({ words, isWrapper: true }, { words: [null], isWrapper: false })
  return null
}

function unwrapWrapper(
  words: Words,
  one: ParseTarget & { readonly name: string; readonly valued: readonly string[] },
): string | null {
  const { name, found, depth } = one
  // `env -S` splits a string into a command; `watch` and `flock -c` pass a line to a shell.
  if (name === 'env' && words.some((word) => word !== null && /^(-S|--split-string)/.test(word))) {
    found.push({ words, isWrapper: true }, { words: [null], isWrapper: false })
    return null
  }
  const rest = skipOptions(words.slice(1), one.valued, POSITIONALS_BEFORE.get(name) ?? 0)
  // A wrapper that starts nothing, or its own choice such as a shell, is an ordinary command.
  if (rest.length === 0) {
    found.push({ words, isWrapper: false })
    return null
  }
  found.push({ words, isWrapper: true })
  // An unknown option may take a value: every possible command is compared with the forbidden ones.
  for (let at = 1; at < words.length; at += 1) found.push({ words: words.slice(at), isWrapper: true })
  if (name === 'watch' || (name === 'flock' && words.includes('-c'))) return parseInner(words, joinWords(rest), one)
  return unwrap(rest, found, depth + 1)
}

function parseInner(words: Words, script: string | null | undefined, into: ParseTarget): string | null {
  into.found.push({ words, isWrapper: true })
  if (script === undefined) return null
  if (script === null) {
    into.found.push({ words: [null], isWrapper: false })
    return null
  }
  return collect(script, into.found, into.depth + 1)
}

function joinWords(words: Words): string | null {
  return words.every((word) => word !== null) ? words.join(' ') : null
}

function unwrapFind(words: Words, found: CallCommand[], depth: number): string | null {
  found.push({ words, isWrapper: false })
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]
    if (word === undefined || word === null || !/^(-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/.test(word))
      continue
    const end = words.findIndex((one, index) => index > at && (one === ';' || one === '+'))
    const problem = unwrap(words.slice(at + 1, end === -1 ? words.length : end), found, depth + 1)
    if (problem !== null) return problem
  }
  return null
}

function skipOptions(words: Words, valued: readonly string[], positionals: number): Words {
  let at = 0
  let skip = positionals
  while (at < words.length) {
    const word = words[at]
    if (word === null || word === undefined) break
    if (word === '--') {
      at += 1
      break
    }
    if (word.startsWith('-') && word !== '-') at += valued.includes(word) ? 2 : 1
    else if (/^[A-Za-z_][A-Za-z0-9_]*=/.test(word)) at += 1
    else if (skip > 0) {
      skip -= 1
      at += 1
    } else break
  }
  return words.slice(at)
}

function getProgramName(word: string | null | undefined): string | null {
  return word === null || word === undefined ? null : word.slice(word.lastIndexOf('/') + 1)
}
