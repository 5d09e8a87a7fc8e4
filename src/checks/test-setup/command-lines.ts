import { isTestName } from '../../core/paths/test-setup-names.js'
import { splitWords, type Word } from './command-words.js'
import { isGlob } from './listing.js'

const TEXT_CHARS_MAX = 32 * 1024
const EXPANSIONS_MAX = 100

/** A variable, `{}` of xargs or the output of a command may be any path. */
const UNKNOWN = '**'

/**
 * The words of a command line that name what is run or how it is configured: programs, scripts of interpreters, and
 * configurations. Other words name what the command works on. If the line does not say what it runs (`cat ci/a.sh |
 * bash`, `for f in ci/*; do sh $f; done`), every word of it may, and a folder includes everything below it.
 */
export function runWordsOf(line: string): readonly Word[] {
  if (line.length > TEXT_CHARS_MAX) throw new Error(`a command is longer than ${TEXT_CHARS_MAX} characters`)
  const text = normalizeLine(line)
  const setUp = [...line.matchAll(ASSIGNMENT)].flatMap(([, name = '', value = '']) => listVariableWords(name, value))
  // Code in the line itself can load whatever it names.
  if (INLINE_CODE.test(text)) return [...setUp, ...splitWords(text).flatMap(expandOption).flatMap(listCodeWords)]
  const simples = splitSimpleCommands(text)
  const words = simples.some(isRunningUnnamed)
    ? simples.flatMap(
        (simple) => simple.find?.map(makeInputWord) ?? simple.words.map((word) => makeInputWord(word.text)),
      )
    : simples.flatMap(listNamedWords)
  return [...setUp, ...words.filter((word) => /\w/.test(word.text) || word.text === '.')]
}

/** What an environment variable configures: module search folders, options of an interpreter, or a file. */
export function listVariableWords(name: string, value: string): readonly Word[] {
  const text = value.replace(/^(['"])(.*)\1$/s, '$2')
  if (SEARCH_VARIABLES.test(name))
    return text.split(/[:;]/).flatMap((folder) => searchWord(folder.replace(/\/?\?.*$/, '')))
  if (OPTION_VARIABLES.test(name)) return splitWords(text).flatMap(expandOption)
  return FILE_VARIABLES.test(name) ? splitWords(text) : []
}

const ASSIGNMENT = /(?:^|[\s;&|(])([A-Za-z_]\w*)=("[^"]*"|'[^']*'|[^\s;&|)]*)/g
const SEARCH_VARIABLES = /^(PYTHONPATH|PERL5LIB|PERLLIB|RUBYLIB|NODE_PATH|PATH|LUA_C?PATH\w*|CLASSPATH)$/
const OPTION_VARIABLES =
  /^(NODE_OPTIONS|BUN_OPTIONS|RUBYOPT|PERL5OPT|MAKEFLAGS|MAKEFILES|PYTEST_ADDOPTS|JAVA_TOOL_OPTIONS)$/
const FILE_VARIABLES = /^(PYTHONSTARTUP|PYTHONHOME|BASH_ENV|ENV|LD_PRELOAD|PERL5DB|DENO_CONFIG)$/

function searchWord(folder: string): readonly Word[] {
  return folder === '' || folder.includes('$') ? [] : [{ text: folder, before: '-I' }]
}

function listCodeWords(word: Word): readonly Word[] {
  if (isGlob(word.text)) return []
  return [/^\.{1,2}\//.test(word.text) ? { ...word, isScript: true } : word]
}

function makeInputWord(text: string): Word {
  return { text, before: '', isInput: true }
}

// Braces are expanded, unknown parts become globs, and the argument of `sh -c` is read like the rest of the line.
function normalizeLine(line: string): string {
  const outputs: string[] = []
  let text = line
    .replace(/\\\r?\n/g, ' ')
    .replace(SHELL_CODE, (_, _quote, code: string) => ` ; ${code} ; `)
    .replace(/\$\(([^()]*)\)|`([^`]*)`/g, (_, output?: string, older?: string) => {
      outputs.push(output ?? older ?? '')
      return UNKNOWN
    })
    .replace(/\$\{[^}\n]{0,200}\}|\$[\w@*]+|\{\}/g, UNKNOWN)
    .replace(/(?<=[\w./*-])\[[^\]\s]{1,100}\]|\[[^\]\s]{1,100}\](?=[\w./*-])/g, '?')
    .replace(/\{\w{1,20}\.\.\w{1,20}\}|\{[^\s{}'"]{0,200}\{[^\s'"]{0,500}\}/g, '*')
  for (let round = 0; round < EXPANSIONS_MAX && BRACES.test(text) && text.length < TEXT_CHARS_MAX; round += 1)
    text = text.replace(BRACES, (_, before: string, list: string, after: string) =>
      list
        .split(',')
        .map((one) => `${before}${one}${after}`)
        .join(' '),
    )
  return [text, ...outputs].join('\n')
}

const SHELL_CODE = /(?<=(?:^|[\s/])(?:ba|z|k|da)?sh\s+(?:-\S+\s+){0,5})-\w*c\s+(['"])([^'"`]*)\1/g
const BRACES = /(?<![^\s{}'"])([^\s{}'"]*)\{([^{}\s'",]{0,500},[^{}\s'"]{0,1000})\}([^\s'"]*)/

interface Simple {
  readonly words: readonly Word[]
  /** Whether it reads what another command or a file says. */
  readonly hasInput: boolean
  /** The files that `find` lists, as globs. */
  readonly find?: readonly string[]
}

function splitSimpleCommands(text: string): readonly Simple[] {
  const parts = text.split(SEPARATORS)
  return parts.flatMap((part, at) => {
    if (at % 2 === 1 || /^\s*\[/.test(part)) return []
    const words = splitWords(part.replace(ASSIGNMENTS, ' ')).flatMap(expandOption)
    const hasInput = parts[at - 1] === '|' || part.includes('<')
    const isFind = /(^|\/)(find|fd)$/.test(words[0]?.text ?? '')
    return [isFind ? { words, hasInput, find: listFoundGlobs(words) } : { words, hasInput }]
  })
}

// `find ci -name '*.sh'` finds `ci/**/*.sh`.
function listFoundGlobs(words: readonly Word[]): readonly string[] {
  const options = words.findIndex(({ text }) => text.startsWith('-'))
  const folders = words.slice(1, options === -1 ? undefined : options).map(({ text }) => text)
  const names = words.filter(({ before }) => /^-(i?name|i?path|wholename)$/.test(before)).map(({ text }) => text)
  return (folders.length === 0 ? ['.'] : folders).flatMap((folder) =>
    (names.length === 0 ? ['**'] : names).map((name) => `${folder}/**/${name.replace(/^\*+\//, '')}`),
  )
}

// Whether it runs something that the line does not name: its input, a variable, or what xargs or find pass on.
function isRunningUnnamed({ words, hasInput }: Simple): boolean {
  if (words[findProgram(words)]?.text === UNKNOWN || words.some(isHandedOver)) return true
  const at = findInterpreter(words, (text) => !ENTERS.test(text))
  const rest = words.slice(at + 1)
  if (at === -1 || isOnlyChecking(words) || rest.some(({ text }) => NO_SCRIPT.test(text))) return false
  const script = rest.find(({ text, before }) => !/^-./.test(text) && !NAMES_SETUP.test(before) && !STARTS.test(text))
  const handing = words.slice(0, at).map(({ text }) => text)
  const isHanded = hasInput || handing.some((text) => HANDS_OVER.test(text))
  if (script === undefined || rest.some(({ text }) => text === '-s')) return isHanded
  const place = handing.flatMap((text) => /^-[Ii](.+)$/.exec(text)?.[1] ?? [])
  return HANDED.test(script.text) || place.some((one) => script.text.includes(one))
}

const HANDED = /^(-|\*\*|\/dev\/(stdin|fd\/\d+))$/

function isOnlyChecking(words: readonly Word[]): boolean {
  return words.some(({ text, before }) => ONLY_CHECKS.test(`${before} ${text}`))
}

// `find ci -exec {} \;`
function isHandedOver({ text, before }: Word): boolean {
  return text === UNKNOWN && /^-(exec|execdir|ok)$/.test(before)
}

function listNamedWords({ words }: Simple): readonly Word[] {
  const program = findProgram(words)
  const isSetUp = !LOOKS_AT_FILES.test(words[program]?.text ?? '')
  const isTestRun = words.some(({ text }) => text === '--test')
  const scripts = findScripts(words).filter((at) => !(isTestRun && isTestName(words[at]?.text ?? '')))
  return words.flatMap((word, at) => {
    const { before } = word
    if (scripts.includes(at) && !ENTERS.test(before))
      return [RUNS_FOLDER.test(before) ? { ...word, isInput: true } : { ...word, isScript: true }]
    return at === program || scripts.includes(at) || (isSetUp && (NAMES_SETUP.test(before) || STARTS.test(before)))
      ? [word]
      : []
  })
}

function findProgram(words: readonly Word[]): number {
  return words.findIndex(({ text, before }) => !WRAPPERS.test(text) && !/^(-|\d)/.test(text) && !/^-[Ii]$/.test(before))
}

// An interpreter may follow a runner: `uv run python ci/check.py`. A dot after a program is a folder.
function findInterpreter(words: readonly Word[], isAsked: (text: string) => boolean = () => true): number {
  const program = findProgram(words)
  return words.findIndex(({ text }, at) => RUNS_SCRIPT.test(text) && (text !== '.' || at === program) && isAsked(text))
}

function findScripts(words: readonly Word[]): readonly number[] {
  const program = findInterpreter(words)
  if (program === -1 || isOnlyChecking(words)) return program === -1 ? [] : [program]
  const isArgument = ({ text, before }: Word, at: number): boolean =>
    at > program && !text.startsWith('-') && !STARTS.test(text) && !NAMES_SETUP.test(before)
  const first = words.findIndex(isArgument)
  // Skip the value of an unknown option: the script is the next word.
  const next = words.findIndex((word, at) => isArgument(word, at) && /[./]/.test(word.text))
  const isValue = (words[first]?.before ?? '').startsWith('-')
  return [program, first, ...(isValue ? [next] : [])]
}

// `-Itools` is `-I tools`.
function expandOption(word: Word): readonly Word[] {
  const [, option, value] = JOINED.exec(word.text) ?? []
  if (option === undefined || value === undefined) return [word]
  return [
    { text: option, before: word.before },
    { text: value, before: option },
  ]
}

const JOINED = /^(-[IMrfm])(\.{0,2}[\w/][\w./:@-]*)$/
const STARTS = /^(run|exec|dlx|x|task)$/
const SEPARATORS = /(&&|\|\||[;|&\n()])/
const ASSIGNMENTS = /(^|\s)[A-Za-z_]\w*=("[^"]*"|'[^']*'|\S*)/g
const WRAPPERS =
  /^(env|time|exec|command|builtin|eval|nice|nohup|timeout|xargs|parallel|npx|bunx|pnpx|uvx|dlx|sudo|!|if|elif|then|else|do|while|until)$/
const RUNS_SCRIPT =
  /(^|\/)(node|nodejs|tsx|ts-node|bun|deno|python[\d.]*|pypy[\d.]*|ruby|perl|php|lua[\d.]*|luajit|(ba|z|k|da|fi)?sh|source|\.|cd|pushd|bats|run-parts)$/
const ENTERS = /^(cd|pushd)$/
const RUNS_FOLDER = /(^|\/)(bats|run-parts)$/
const HANDS_OVER = /^(xargs|parallel|-exec|-execdir|-ok)$/
// Only the syntax is checked; nothing is run.
const ONLY_CHECKS =
  /^(\S*\/)?(node(js)? (--check|-c)|(ba|z|k|da)?sh -n|php -l|(ruby|perl) -w?c)$|^-m (py_compile|compileall)$/
const NO_SCRIPT = /^(--test|--version|-v|-V|-m|-M)$/
const INLINE_CODE =
  /(^|[\s/])((node|nodejs|bun|deno|ruby|perl|lua[\d.]*)\s+(-\S+\s+){0,10}(-\w*[eEp]|--eval|--print|eval)|php\s+(-\S+\s+){0,10}-r|(python[\d.]*|(ba|z|k|da)?sh)\s+(-\S+\s+){0,10}-\w*c)\s/
// Their options mean something else.
const LOOKS_AT_FILES = /^(test|\[|rm|cp|mv|ls|cat|e?grep|fgrep|rg|find|head|tail|diff|cmp|tar|wc|sort|stat|git|curl)$/
const NAMES_SETUP =
  /^(-c|-f|-r|-p|-\w*m|-M|-C|-I|--prefix|--cwd|--dir|--config|--config-file|--rcfile|--init-file|--file|--justfile|--taskfile|--import-map|--project|--require|--import|--loader|--experimental-loader|--preload|--rulesdir|--resolve-plugins-relative-to|--env-file|--settings|--makefile|--schema)$/
