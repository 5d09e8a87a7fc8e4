import { existsSync, readdirSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT, readDoc } from './blocks.js'

const FILES = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
  ...readdirSync(`${ROOT}docs`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

test.each(FILES)('every file that %s names or links to is there', (file) => {
  const text = readDoc(file)
  const folder = posix.dirname(file)
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map(([, path]) =>
    posix.join(folder, path ?? ''),
  )
  const named = [...text.matchAll(/`((?:src|test|contracts|docs|scripts)\/[\w./-]*\w)`/g)].map(([, path]) => path ?? '')
  // One page is about other projects, the other names test files without their endings.
  const isAboutOthers = /inverted-run-measured|testing/.test(file)
  expect([...links, ...(isAboutOthers ? [] : named)].filter((path) => !existsSync(`${ROOT}${path}`))).toEqual([])
})

test.each(FILES)('every heading that %s links to is there', (file) => {
  const folder = posix.dirname(file)
  const links = [...readDoc(file).matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)]
  const lost = links.filter(([, path, anchor]) => {
    const target = path === '' ? file : posix.join(folder, path ?? '')
    return !anchorsOf(target).has(anchor ?? '')
  })
  expect(lost.map(([link]) => link)).toEqual([])
})

// As the usual renderers make them.
function anchorsOf(file: string): ReadonlySet<string> {
  const headings = [...readDoc(file).matchAll(/^#{1,6} (.+)$/gm)].map(([, text]) => text ?? '')
  return new Set(
    headings.map((text) =>
      text
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}
