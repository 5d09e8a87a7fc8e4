import { addSuffixes, listCompiledSources, listPerlFiles, listPythonFiles } from './command-words.js'

const NAMED_MAX = 2000

/** A module that a script loads by name. */
interface Module {
  /** The files it may be, relative to a module search folder. */
  readonly files: readonly string[]
  /** Looked up in the folder of the script, whatever else is searched. */
  readonly isRelative: boolean
  /** It comes with the language: a project file with this name replaces it. */
  readonly isBuiltIn?: boolean
}

/** How scripts of one language load others. */
export interface Language {
  readonly name: RegExp
  readonly shebang: RegExp
  modulesIn(text: string): readonly Module[]
  /** Modules are searched in the folder where the command was started. */
  readonly searchesRoot: boolean
  /** Lines that add module search folders. */
  readonly searches: RegExp | null
  /** Loads whose path is built at run time. */
  readonly dynamic: RegExp
  /** Every line may be a command. */
  readonly isShell?: true
}

const ES: Language = {
  name: /\.[cm]?[jt]sx?$/,
  shebang: /\b(node|bun|deno|tsx|ts-node)\b/,
  modulesIn: (text) =>
    findMatches(text, IMPORTS).map(makeRelativeModule((path) => [...addSuffixes(path), ...listCompiledSources(path)])),
  searchesRoot: false,
  searches: null,
  dynamic: /\b(import|require)\s{0,20}\(\s{0,20}(?!['"`][^'"`$\n]{0,500}['"`]\s{0,20}[),])\S/,
}

const IMPORTS = /(?:from|import|require|URL|register)\s{0,20}\(?\s{0,20}['"`](\.{1,2}(?:\/[^'"`\n]{0,500})?)['"`]/g

const PYTHON: Language = {
  name: /\.pyw?$/,
  shebang: /\bpython/,
  modulesIn: findPythonModules,
  searchesRoot: true,
  searches: /^.*\bsys\.path\b.*$|^.*\bsite\.addsitedir\b.*$/gm,
  dynamic:
    /\b(import_module|__import__|run_path|run_module|spec_from_file_location|exec|execfile)\s*\(\s*(?!['"][^'"]*['"]\s*\))/,
}

function findPythonModules(text: string): readonly Module[] {
  return [...text.matchAll(PYTHON_IMPORTS)].slice(0, NAMED_MAX).flatMap(([, from, names, list, called]) => {
    if (from === undefined)
      return (list ?? called ?? '').split(',').map((one) => makePythonModule(one.trim().split(/\s/)[0] ?? '', []))
    const imported = (names ?? '')
      .replace(/#.*$/gm, '')
      .replace(/[()\\]/g, ' ')
      .split(',')
    return [
      makePythonModule(
        from,
        imported.map((one) => one.trim().split(/\W/)[0] ?? ''),
      ),
    ]
  })
}

const PYTHON_IMPORTS =
  /^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]{0,5000}\)|[^\n;]+)|^[ \t]*import[ \t]+([\w., \t]+)|\b(?:import_module|__import__|run_module)\s*\(\s*['"]([\w.]+)['"]/gm

function makePythonModule(name: string, imported: readonly string[]): Module {
  const [dots = ''] = /^\.*/.exec(name) ?? []
  const base = name.slice(dots.length)
  const up = '../'.repeat(Math.max(0, dots.length - 1))
  const within = imported.filter((one) => /^\w+$/.test(one)).map((one) => (base === '' ? one : `${base}.${one}`))
  const files = [base, ...within].filter((one) => one !== '').flatMap(listPythonFiles)
  return {
    files: [...new Set(files), ...(dots === '' ? [] : ['__init__.py'])].map((one) => `${up}${one}`),
    isRelative: dots !== '',
    isBuiltIn: dots === '' && PYTHON_STANDARD.has(base.split('.')[0] ?? ''),
  }
}

const PYTHON_STANDARD: ReadonlySet<string> = new Set(
  `abc aifc argparse array ast asyncio atexit base64 bdb binascii bisect builtins bz2 calendar cgi cmath cmd code codecs codeop
   collections colorsys compileall concurrent configparser contextlib contextvars copy copyreg csv ctypes curses dataclasses
   datetime dbm decimal difflib dis doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch
   fractions ftplib functools gc getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http imaplib imp importlib
   inspect io ipaddress itertools json keyword linecache locale logging lzma mailbox marshal math mimetypes mmap modulefinder
   multiprocessing netrc numbers opcode operator optparse os pathlib pdb pickle pickletools pkgutil platform plistlib poplib posix
   posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc queue quopri random re readline reprlib resource rlcompleter
   runpy sched secrets select selectors shelve shlex shutil signal site smtplib socket socketserver sqlite3 ssl stat statistics
   string stringprep struct subprocess symtable sys sysconfig syslog tabnanny tarfile tempfile termios test textwrap threading
   time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle types typing unicodedata unittest urllib uuid
   venv warnings wave weakref webbrowser winreg wsgiref xml xmlrpc zipapp zipfile zipimport zlib zoneinfo __future__`.split(
    /\s+/,
  ),
)

const PERL: Language = {
  name: /\.(pl|pm|t)$/,
  shebang: /\bperl/,
  modulesIn: (text) => [
    ...findMatches(text, /^[ \t]*(?:use|require)[ \t]+([A-Za-z_][\w:]*)/gm).map(makeNamedModule(listPerlFiles)),
    ...findMatches(text, /\b(?:require|do)[ \t(]+['"]([^'"\n$]{1,500})['"]/g).map(makeNamedModule((path) => [path])),
  ],
  searchesRoot: false,
  searches: /^[ \t]*use[ \t]+(lib|FindBin)\b.*$|^.*@INC\b.*$/gm,
  dynamic: /\b(require|do)[ \t(]+[$(]/,
}

const RUBY: Language = {
  name: /\.(rb|rake|gemspec)$|(^|\/)(Rakefile|Gemfile)$/,
  shebang: /\bruby/,
  modulesIn: (text) => [
    ...findMatches(text, /\brequire_relative[ \t(]+['"]([^'"\n#]{1,500})['"]/g).map(makeRelativeModule(listRubyFiles)),
    ...findMatches(text, /\b(?:require|load|eval_gemfile|import)[ \t(]+['"]([^'"\n#]{1,500})['"]/g).map(
      makeNamedModule(listRubyFiles),
    ),
  ],
  searchesRoot: false,
  searches: /^.*(\$LOAD_PATH|\$:|\bDir\.chdir).*$/gm,
  dynamic: /\b(require|require_relative|load|instance_eval)[ \t(]+[a-z_@F(]/,
}

function listRubyFiles(path: string): readonly string[] {
  return [path, `${path}.rb`]
}

const LUA: Language = {
  name: /\.lua$/,
  shebang: /\blua/,
  modulesIn: (text) => [
    ...findMatches(text, /\brequire[ \t(]+['"]([\w./-]{1,500})['"]/g).map(makeNamedModule(listLuaFiles)),
    ...findMatches(text, /\b(?:dofile|loadfile)[ \t(]+['"]([^'"\n]{1,500})['"]/g).map(
      makeNamedModule((path) => [path]),
    ),
  ],
  searchesRoot: true,
  searches: /^.*\bpackage\.c?path\b.*$/gm,
  dynamic: /\b(require|dofile|loadfile)[ \t(]+[a-z_(]/,
}

function listLuaFiles(module: string): readonly string[] {
  const path = module.replaceAll('.', '/')
  return [`${path}.lua`, `${path}/init.lua`]
}

const PHP: Language = {
  name: /\.(php|phtml|inc)$/,
  shebang: /\bphp/,
  modulesIn: (text) =>
    findMatches(text, /\b(?:include|require)(?:_once)?\b[^;'"\n]{0,100}['"]([^'"\n$]{1,500})['"]/g)
      .map((path) => path.replace(/^\/+/, ''))
      .map(makeNamedModule((path) => [path])),
  searchesRoot: true,
  searches: /^.*\bset_include_path\b.*$/gm,
  dynamic: /\b(include|require)(_once)?[ \t(]+\$/,
}

const SHELL: Language = {
  name: /\.(ba|z|k|fi)?sh$|\.bats$|(^|\/)((GNU)?[mM]akefile|\.?justfile|taskfile(\.dist)?\.ya?ml|deno\.jsonc?)$|\.(mk|just)$/i,
  shebang: /\b(ba|z|k|da|fi)?sh\b/,
  modulesIn: (text) =>
    findMatches(
      text,
      /^-?s?include[ \t]+([^\n#$]{1,1000})|^(?:import|mod)\??[ \t]+(?:\w+[ \t]+)?['"]([^'"\n]{1,500})['"]/gm,
    )
      .flatMap((paths) => paths.trim().split(/\s+/))
      .map(makeNamedModule((path) => [path])),
  searchesRoot: true,
  searches: null,
  dynamic:
    /(^|[\s;&|])((ba|z|k|da)?sh|source|\.|node|python[\d.]*|ruby|perl|eval|xargs|-exec)[ \t]+(-\S+[ \t]+){0,5}["']?[$({]|^[ \t]*["']?\$\{?\w+/m,
  isShell: true,
}

const LANGUAGES: readonly Language[] = [ES, PYTHON, PERL, RUBY, LUA, PHP, SHELL]

/**
 * The language of a script, by its name or its first line; an unknown one may be anything that imports by relative
 * paths.
 */
export function detectLanguage(path: string, text: string): Language {
  const [, program] = /^#!(.{0,200})/.exec(text) ?? []
  return (
    LANGUAGES.find(({ name }) => name.test(path)) ??
    LANGUAGES.find(({ shebang }) => program !== undefined && shebang.test(program)) ??
    (/\.\w+$/.test(path) || /\b(import|require|from)\b[^\n'"`]{0,300}['"`]/.test(text) ? ES : SHELL)
  )
}

/** Whether a script loads or runs files whose path it builds at run time, or finds in a folder. */
export function isDynamic({ dynamic }: Language, text: string): boolean {
  return dynamic.test(text) || (LISTS.test(text) && RUNS.test(text))
}

const LISTS = /\b(readdir\w*|glob\w*|opendir\w*|listdir|iterdir|scandir|walk|Dir)\b/
const RUNS = /\b(spawn\w*|exec(a|File\w*|Sync)|(?<!\.)exec|fork|system|[pP]open|subprocess|createRequire|qx)\b/

/** Whether the language of a file is that of Node.js, whose packages say how modules are found. */
export function isNodeScript(path: string, text: string): boolean {
  return detectLanguage(path, text) === ES && (ES.name.test(path) || !/\.\w+$/.test(path))
}

function findMatches(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].slice(0, NAMED_MAX).map(([, one, other]) => one ?? other ?? '')
}

function makeRelativeModule(files: (path: string) => readonly string[]): (path: string) => Module {
  return (path) => ({ files: files(path), isRelative: true })
}

function makeNamedModule(files: (path: string) => readonly string[]): (path: string) => Module {
  return (path) => ({ files: files(path), isRelative: false })
}
