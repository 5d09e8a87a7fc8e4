import { readdirSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DOC_PICTURES } from '../dashboard/pictures/doc-pictures.js'
import { ROOT, readDoc } from './blocks.js'

const BYTES_MAX = 600_000
const FOLDER = 'docs/pictures'

const documents = [
  'README.md',
  ...readdirSync(`${ROOT}docs`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

/** The pictures of the dashboard that a document shows, as paths from the top. */
function listShown(file: string): readonly string[] {
  const named = readDoc(file).matchAll(/(?:\]\(|srcset="|src=")([^")\s]+\.(?:webp|png|jpe?g|gif))/g)
  return [...named].map(([, path]) => posix.join(posix.dirname(file), path ?? ''))
}

describe('the pictures of the documentation', () => {
  const made = DOC_PICTURES.map(({ file }) => `${FOLDER}/${file}.webp`).toSorted()

  it('[REQ-DASH-12] each that a document shows is made by npm run screenshots, and each that is made is shown', () => {
    expect([...new Set(documents.flatMap(listShown))].toSorted()).toEqual(made)
  })

  it('[REQ-DASH-12] the folder holds them and no other, and all are small', () => {
    const kept = readdirSync(`${ROOT}${FOLDER}`).filter((name) => !name.endsWith('.svg'))
    expect(kept.map((name) => `${FOLDER}/${name}`).toSorted()).toEqual(made)
    const bytes = made.reduce((sum, path) => sum + statSync(`${ROOT}${path}`).size, 0)
    expect(bytes).toBeLessThan(BYTES_MAX)
  })

  it('[REQ-DASH-12] each says in words what it shows', () => {
    for (const file of documents)
      for (const [tag] of readDoc(file).matchAll(/<img [^>]*>|!\[\]/g)) expect(tag).toMatch(/alt="[^"]{10,}"/)
  })
})
