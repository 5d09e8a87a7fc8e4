import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { buildProgram } from '../../src/cli/program.js'
import { ROUTES } from '../../src/http/routes/all.js'
import { ROOT, readDoc } from './blocks.js'

/** Pages that say what is; decisions and the changelog say what was. */
const FILES = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'sdk/typescript/README.md', 'python/README.md'],
  ...['deploy/Dockerfile', 'deploy/compose.yaml', 'claude-plugin/README.md'],
  ...readdirSync(`${ROOT}docs`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('decisions/'))
    .map((name) => `docs/${name}`),
]

/** Words that put something off to a later version. */
const LATER =
  /\b(?:not (?:yet )?(?:in|part of) this version|gets? no \w+ in this version|not (?:yet )?(?:implemented|supported)(?: yet)?\b|in a (?:later|future|coming) version|(?:is|are) planned|does not exist yet|there (?:is|are) no[^.]{0,60}\byet\b|coming soon|unimplemented)/i

/** Such words that are true, with the test that fails when they are not any more. */
const TRUE_NOW: readonly { readonly file: string; readonly words: string; readonly heldBy: string }[] = [
  {
    file: 'docs/consensus.md',
    words: 'gets no tasks in this version',
    heldBy: 'test/contract/later.test.ts',
  },
]

/** What is there, by how a page would deny it. */
const THERE: readonly (readonly [RegExp, string])[] = [
  [/\b(?:no|without a) plugin (?:for|of) Claude Code\b/i, 'claude-plugin/.claude-plugin/plugin.json'],
  [/\bno (?:dashboard|web page|user interface)\b(?! (?:session|is open|page shows))/i, 'dashboard/index.html'],
  [/\bno (?:container image|Docker image|Dockerfile)\b/i, 'deploy/container/Dockerfile'],
  [/\bno (?:Python|TypeScript) (?:SDK|client|package)\b/i, 'sdk/typescript/package.json'],
  [/\b(?:SQLite only|only SQLite|no PostgreSQL)\b/i, 'src/store/open-store.ts'],
  [/\bno (?:changelog|licence|license)\b/i, 'CHANGELOG.md'],
  [/\bnot (?:published|packaged|to be installed)\b/i, 'scripts/release.mjs'],
]

interface Known {
  readonly commands: ReadonlySet<string>
  readonly routes: ReadonlySet<string>
}
const known: Known = {
  commands: new Set(buildProgram().commands.flatMap((command) => [command.name(), ...command.aliases()])),
  routes: new Set(ROUTES.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)),
}

/** Sentences that deny or put off something that exists. */
function findOutdated(file: string, text: string): readonly string[] {
  const plain = text.replaceAll(/```[\s\S]*?```/g, '').replaceAll(/^#+ .*$/gm, '')
  const sentences = plain.split(/(?<=[.:;|])\s+|\n{2,}/).map((sentence) => sentence.replaceAll(/\s+/g, ' '))
  return sentences.filter((sentence) => {
    const isTrue = TRUE_NOW.some((one) => one.file === file && sentence.includes(one.words))
    return (LATER.test(sentence) && !isTrue) || deniesExisting(sentence)
  })
}

function deniesExisting(sentence: string): boolean {
  if (THERE.some(([words, path]) => words.test(sentence) && existsSync(`${ROOT}${path}`))) return true
  const denied = /\b(?:there is no|has no|have no|does not have|is no)(?: command| endpoint| option)? `([^`]+)`/gi
  return [...sentence.matchAll(denied)].some(([, code = '']) => {
    const [, command = ''] = /^(?:phaselock )([a-z-]+)$/.exec(code) ?? []
    return known.commands.has(command) || known.routes.has(code)
  })
}

describe('a page that is behind', () => {
  it.each([
    'Backups are not in this version.',
    'Webhooks are not implemented yet.',
    'A plugin will follow in a later version.',
    'There is no `phaselock backup`.',
    'There is no endpoint `GET /insights`; read the ledger.',
    'There is no plugin for Claude Code.',
    'There are no reports of it yet.',
  ])('[REQ-DOCS-2] is found by: %s', (sentence) => {
    expect(findOutdated('docs/x.md', `Some words.\n\n${sentence} More words.`)).toHaveLength(1)
  })

  it.each([
    'There is no `phaselock frobnicate`.',
    'An approval that nobody has decided yet waits.',
    'The contract is not yet accepted.',
  ])('[REQ-DOCS-2] is not found by: %s', (sentence) => {
    expect(findOutdated('docs/x.md', sentence)).toEqual([])
  })
})

test.each(FILES)('[REQ-DOCS-2] %s denies nothing that exists', (file) => {
  expect(findOutdated(file, readDoc(file))).toEqual([])
})

test('[REQ-DOCS-2] what is said to come later is held by a test, and is still said', () => {
  for (const { file, words, heldBy } of TRUE_NOW) {
    expect(readDoc(file).replaceAll(/\s+/g, ' ')).toContain(words)
    expect(existsSync(`${ROOT}${heldBy}`), heldBy).toBe(true)
  }
})

test('[REQ-DOCS-3] the map of the documentation leads to every page, and guides are apart from reference', () => {
  const map = readDoc('docs/README.md')
  const pages = FILES.filter((file) => file.startsWith('docs/') && file !== 'docs/README.md')
  expect(pages.filter((file) => !map.includes(`(${file.slice('docs/'.length)})`))).toEqual([])
  for (const part of map.split(/^## /m).slice(1, 5)) expect(part).toMatch(/\nGuides:\n[\s\S]*\nReference: /)
})
