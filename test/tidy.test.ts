import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildProgram } from '../src/cli/program.js'
import { CODES } from '../src/core/codes.js'

const ROOT = new URL('..', import.meta.url).pathname

interface Source {
  readonly path: string
  readonly folder: string
  readonly text: string
}

const sources: readonly Source[] = [...sourcesBelow('src', ''), ...sourcesBelow('sdk/typescript/src', 'sdk/')]

function sourcesBelow(dir: string, prefix: string): readonly Source[] {
  return readdirSync(join(ROOT, dir), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({
      path: prefix + name,
      folder: (prefix + name).split('/')[0] ?? '',
      text: readFileSync(join(ROOT, dir, name), 'utf8'),
    }))
}

/** The table of ARCHITECTURE.md: folder to the folders it may import. */
function importTable(): ReadonlyMap<string, readonly string[]> {
  const rows = [
    ...readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8').matchAll(/^\| ([a-z]+) \| ([a-z, ]*)\| .+ \|$/gm),
  ].filter(([, folder]) => folder !== 'folder')
  return new Map(
    rows.map(([, folder, may]) => [
      folder ?? '',
      (may ?? '')
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== ''),
    ]),
  )
}

function importsOf(source: Source): readonly string[] {
  return [
    ...source.text.matchAll(
      /^(?:import|export)[^'"]*from ['"]([^'"]+)['"]|import\(['"]([^'"]+)['"]\)|^import ['"]([^'"]+)['"]/gm,
    ),
  ].map((match) => match[1] ?? match[2] ?? match[3] ?? '')
}

function folderOf(source: Source, specifier: string): string {
  return join(source.path, '..', specifier).split('/')[0] ?? ''
}

function tracked(): readonly string[] {
  return execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((name) => name !== '' && existsSync(join(ROOT, name)))
}

describe('the architecture', () => {
  const table = importTable()

  it('[REQ-TIDY-1] every folder of src, and the sdk, is in the table, and every row of the table is a folder', () => {
    const folders = [...new Set(sources.map((source) => source.folder))].sort()
    expect([...table.keys()].sort()).toEqual(folders)
  })

  it('[REQ-TIDY-1] every import keeps to the table', () => {
    const broken = sources.flatMap((source) =>
      importsOf(source)
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => folderOf(source, specifier))
        .filter((folder) => folder !== source.folder && !(table.get(source.folder) ?? []).includes(folder))
        .map((folder) => `${source.path} imports ${folder}`),
    )
    expect(broken).toEqual([])
  })

  it('[REQ-TIDY-2] the core imports nothing but itself and reaches for no clock, chance or input', () => {
    const core = sources.filter((source) => source.folder === 'core')
    expect(core.length).toBeGreaterThan(10)
    expect(
      core.flatMap((source) =>
        importsOf(source)
          .filter((specifier) => !specifier.startsWith('.') || folderOf(source, specifier) !== 'core')
          .map((specifier) => `${source.path}: ${specifier}`),
      ),
    ).toEqual([])
    expect(
      core
        .filter((source) =>
          /\b(Date\.now|new Date\b|Math\.random|setTimeout|setInterval|process\.|async |await |Promise)/.test(
            source.text.replace(/\/\*\*?[\s\S]*?\*\/|\/\/.*/g, ''),
          ),
        )
        .map((source) => source.path),
    ).toEqual([])
  })

  it('[REQ-TIDY-2] the sdk imports nothing but itself and, where a socket is used, node:http', () => {
    const sdk = sources.filter((source) => source.folder === 'sdk')
    expect(sdk.length).toBeGreaterThan(5)
    const outside = sdk.flatMap((source) =>
      importsOf(source)
        .filter((specifier) => !specifier.startsWith('.') || folderOf(source, specifier) !== 'sdk')
        .map((specifier) => `${source.path}: ${specifier}`),
    )
    expect(outside).toEqual(['sdk/transport.ts: node:http'])
    expect(sdk.find((source) => source.path === 'sdk/transport.ts')?.text).toContain("await import('node:http')")
  })

  it('[REQ-TIDY-1] only app/ledger/ledger.ts appends to the store', () => {
    const appending = sources
      .filter((source) => !['store'].includes(source.folder) && /\.append\(/.test(source.text))
      .map((source) => source.path)
    expect(appending).toEqual(['app/ledger/ledger.ts'])
  })

  it('[REQ-TIDY-3] an index.ts stands at the top of a room, and no file of that room imports it', () => {
    const rooms = sources.filter((source) => source.path.endsWith('index.ts')).map((source) => dirname(source.path))
    expect(rooms).toEqual(expect.arrayContaining(['core', 'sdk']))
    const inward = sources.flatMap((source) =>
      importsOf(source)
        .filter((specifier) => specifier.startsWith('.') && specifier.endsWith('/index.js'))
        .map((specifier) => dirname(join(source.path, '..', specifier)))
        .filter((room) => source.path.startsWith(`${room}/`))
        .map((room) => `${source.path} imports the index of ${room}`),
    )
    expect(inward).toEqual([])
  })

  it('[REQ-TIDY-3] one module knows where the package lies; the others ask it or load packages from a folder of src', () => {
    const placed = sources.filter((source) => source.text.includes('import.meta') && source.folder !== 'sdk')
    expect(placed.map((source) => source.path).toSorted()).toEqual([
      'base/package-root.ts',
      'inverter/parse.ts',
      'knowledge/minilm.ts',
      'store/database.ts',
    ])
    expect(placed.filter((source) => source.text.includes("'../../")).map((source) => source.path)).toEqual([
      'base/package-root.ts',
    ])
  })

  it('[REQ-TIDY-3] a TODO names an issue', () => {
    const loose = sources
      .filter((source) => /(\/\/|\*).*\b(TODO|FIXME|XXX|HACK)\b(?! #\d)/.test(source.text))
      .map((source) => source.path)
    expect(loose).toEqual([])
  })
})

const GUIDES = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'docs/glossary.md',
  'docs/internals/calls.md',
  'docs/internals/rules.md',
]
const ARCHITECTURE_LINES_MAX = 125
const STOPS_MAX = 12

function readText(name: string): string {
  return readFileSync(join(ROOT, name), 'utf8')
}

/** The part of ARCHITECTURE.md below a heading. */
function sectionOf(heading: string): string {
  return readText('ARCHITECTURE.md').split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
}

/** What a text names as `function` in `file`, also two functions of one file. */
function placesIn(text: string): readonly { readonly name: string; readonly file: string }[] {
  return [...text.matchAll(/`([\w$]+)`(?: and `([\w$]+)`)? in `([\w-]+\/[\w./-]+\.(?:ts|mjs))`/g)].flatMap(
    ([, name = '', other, file = '']) =>
      [name, ...(other === undefined ? [] : [other])].map((one) => ({ name: one, file })),
  )
}

function declares(text: string, name: string): boolean {
  return new RegExp(
    `(?:function\\*?|const|class|interface|type) ${name}\\b|^ {2}(?:async )?#?${name}(?:<[^>]*>)?\\(`,
    'm',
  ).test(text)
}

function isThere(path: string): boolean {
  if (!path.includes('*')) return existsSync(join(ROOT, path))
  const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replaceAll('*', '[^/]+')}$`)
  return tracked().some((name) => pattern.test(name))
}

describe('the guides for newcomers', () => {
  it('[REQ-TIDY-8] ARCHITECTURE.md fits two screens, and a tool call and a transition have at most a dozen stops', () => {
    expect(readText('ARCHITECTURE.md').split('\n').length).toBeLessThanOrEqual(ARCHITECTURE_LINES_MAX)
    for (const heading of ['One tool call', 'One transition']) {
      const stops = [...sectionOf(heading).matchAll(/^\d+\. (.+)$/gm)].map(([, text]) => text ?? '')
      expect(stops.length, heading).toBeGreaterThan(5)
      expect(stops.length, heading).toBeLessThanOrEqual(STOPS_MAX)
      expect(stops.filter((stop) => placesIn(stop).length === 0)).toEqual([])
    }
  })

  it('[REQ-TIDY-8] every row of "Where each rule lives" names a function and its file', () => {
    const rows = sectionOf('Where each rule lives')
      .split('\n')
      .filter((line) => line.startsWith('| ') && line.includes('?'))
    expect(rows.length).toBeGreaterThan(20)
    expect(rows.filter((row) => placesIn(row).length === 0)).toEqual([])
  })

  it.each(GUIDES)('[REQ-TIDY-8] every function that %s places in a file is declared there', (guide) => {
    const lost = placesIn(readText(guide)).filter(
      ({ name, file }) => !existsSync(join(ROOT, file)) || !declares(readText(file), name),
    )
    expect(lost).toEqual([])
  })

  it.each(GUIDES)('[REQ-TIDY-8] every path that %s names exists', (guide) => {
    const isPath =
      /^(?:src|test|docs|dev|demo|runtime|sdk|python|scripts|schemas|contracts|bin)\/[\w./*-]+$|^[A-Z]+\.md$/
    const folders = new Set(sources.map((source) => source.folder))
    const named = [...readText(guide).matchAll(/`([^`\s]+)`/g)].flatMap(([, text = '']) => {
      if (isPath.test(text)) return [text]
      return folders.has(text.split('/')[0] ?? '') && /\/[\w-]+\.ts$/.test(text) ? [`src/${text}`] : []
    })
    const links = [...readText(guide).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path]) =>
      join(guide, '..', path ?? ''),
    )
    expect([...named, ...links].filter((path) => !isThere(path))).toEqual([])
  })

  it('[REQ-TIDY-8] every command that CONTRIBUTING.md names exists, with its options', () => {
    const text = readText('CONTRIBUTING.md')
    const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> }
    const ran = [...text.matchAll(/\bnpm (?:run )?([a-z:]+)/g)].map(([, name]) => name ?? '')
    expect(ran.filter((name) => name !== 'ci' && scripts[name] === undefined)).toEqual([])
    const tests = [...text.matchAll(/npx vitest run ([\w./-]+)/g)].map(([, path]) => path ?? '')
    expect(tests.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
    const calls = [...text.matchAll(/`(?:[^`]*\/)?phaselock ([^`]+)`/g)].map(([, call]) => call?.split(' ') ?? [])
    expect(calls.length).toBeGreaterThan(5)
    expect(calls.filter((words) => !isCommand(words))).toEqual([])
  })

  it('[REQ-TIDY-8] every name on the wire in the glossary is in the source', () => {
    const names = [...readText('docs/glossary.md').matchAll(/\| `([^`|]+)` \|$/gm)].map(
      ([, name]) => name?.split(' ').at(-1) ?? '',
    )
    expect(names.length).toBeGreaterThan(15)
    expect(names.filter((name) => !sources.some(({ text }) => text.includes(name)))).toEqual([])
  })
})

/** True when the program has the command and every option that is named with it. */
function isCommand(words: readonly string[]): boolean {
  let command: Pick<ReturnType<typeof buildProgram>, 'commands' | 'options'> = buildProgram()
  const options = [...command.options]
  for (const word of words.filter((one) => /^[a-z]+$/.test(one))) {
    const next = command.commands.find((one) => one.name() === word)
    if (next === undefined) break
    command = next
    options.push(...next.options)
  }
  const flags = words.filter((word) => word.startsWith('--'))
  return command.commands.length === 0 && flags.every((flag) => options.some((option) => option.long === flag))
}

// Constructions that readers had to read twice. Say it with a subject, a verb and an object instead.
const PLAIN_WORDS: readonly RegExp[] = [
  /\bwho(?:so|m)?ever\b/i,
  /\banew\b/i,
  /\b(?:tools?|tasks?|agents?|answers?) that there (?:is|are|was|were)\b/i,
  /\b(?:tell|tells|told) of\b/i,
  /\bwhat (?:becomes|became|came) of\b/i,
  /\bnobody who\b/i,
  /\ban? [\w-]+ of its own\b/i,
  /\bfor want of\b/i,
  /\b(?:lie|lies) (?:below|beside|outside|inside|elsewhere|in (?:the|a|its|one|more|which))\b/i,
  /\b(?:those there are|what there is|answers? there are)\b/i,
  /\bis warned about\b/i,
  /\bnot heard of\b/i,
  /(?<!there )\bis no (?:test|file|tool|path|token|call|fault|error|refusal|integer|answer|program)\b/i,
  /\b(?:wall|walls|door|doors)\b/i,
]

/** The texts of a source file that people or agents may read: its strings with at least three words. */
function listTexts(text: string): readonly string[] {
  const code = text.replace(/^\s*(?:\/\*\*?[\s\S]*?\*\/|\/\/.*)/gm, '')
  return [...code.matchAll(/'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g)]
    .map((match) => (match[1] ?? match[2] ?? match[3] ?? '').replace(/\$\{[^}]*\}/g, '…'))
    .filter((found) => found.split(' ').length >= 3)
}

/** The sentences of a document, without code, addresses and names of files. */
function listSentences(text: string): readonly string[] {
  const prose = text
    .replace(/```[\s\S]*?```/g, '')
    .replace(/`[^`\n]*`|REQ-[A-Z0-9-]+/g, '…')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/[\w-]+\/[\w./-]+/g, '…')
  return prose.split('\n')
}

describe('plain words', () => {
  it('[REQ-TIDY-9] no message, help text or description in the source uses a construction of the list', () => {
    const found = sources.flatMap(({ path, text }) =>
      listTexts(text)
        .filter((line) => PLAIN_WORDS.some((pattern) => pattern.test(line)))
        .map((line) => `${path}: ${line}`),
    )
    expect(sources.flatMap(({ text }) => listTexts(text)).length).toBeGreaterThan(3000)
    expect(found).toEqual([])
  })

  it('[REQ-TIDY-9] no document for users does', () => {
    const documents = tracked().filter(
      (name) =>
        /^(?:docs\/(?!decisions\/)|README|ARCHITECTURE|CONTRIBUTING|\.github\/)/.test(name) && /\.md$/.test(name),
    )
    expect(documents.length).toBeGreaterThan(30)
    const found = documents.flatMap((name) =>
      listSentences(readText(name))
        .filter((line) => PLAIN_WORDS.some((pattern) => pattern.test(line)))
        .map((line) => `${name}: ${line}`),
    )
    expect(found).toEqual([])
  })
})

describe('codes', () => {
  it('[REQ-TIDY-4] every code has a title, a remedy and a heading in docs/errors.md', () => {
    const headings = new Set(
      [...readFileSync(join(ROOT, 'docs/errors.md'), 'utf8').matchAll(/^## `?([a-z_.]+)`?/gm)].map(([, code]) => code),
    )
    for (const [code, text] of Object.entries(CODES)) {
      expect(text.title.length, code).toBeGreaterThan(5)
      expect(text.remedy.endsWith('.') || text.remedy.endsWith('".'), code).toBe(true)
      expect([...headings], code).toContain(code)
    }
  })
})

describe('the project', () => {
  it('[REQ-TIDY-6] the lock file names no download address, and no file names a package registry or a folder of the machine it was written on', () => {
    const files = tracked().filter((name) => !/\.(png|ico|db)$/.test(name))
    expect(files).toContain('package-lock.json')
    const registry = ['registry', 'npmjs', 'org'].join('.')
    const mentions = files.filter((name) => {
      const text = readFileSync(join(ROOT, name), 'utf8')
      return text.includes(registry) || /"resolved": ?"/.test(text) || /\/work\/(main|shared)|\.\.\/shared\//.test(text)
    })
    expect(mentions.filter((name) => name !== 'test/tidy.test.ts')).toEqual([])
  })

  it('[REQ-TIDY-6] every dependency has its reason in docs/decisions', () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>
      devDependencies: Record<string, string>
    }
    const decisions = readdirSync(join(ROOT, 'docs/decisions'))
      .map((name) => readFileSync(join(ROOT, 'docs/decisions', name), 'utf8'))
      .join('\n')
    expect(
      Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }).filter(
        (name) => !decisions.includes(name),
      ),
    ).toEqual([])
  })
})
