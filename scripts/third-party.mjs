// Licences of the packages whose code is bundled into the program and the dashboard.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './prepare.mjs'

const PACKAGE = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//
const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i
// For packages that name a licence and an author, but carry no text.
const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`
const ISC = `Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.`
const TEXTS = { MIT, ISC, 'Apache-2.0': readFileSync(join(ROOT, 'LICENSE'), 'utf8').trim() }

/** Folders of the packages that modules of these chunks come from. */
export function listPackageFolders(chunks) {
  const modules = chunks.flatMap(({ moduleIds = [] }) => moduleIds)
  // Modules of a bundler begin with a zero byte.
  return [...new Set(modules.flatMap((id) => PACKAGE.exec(id.replace(/^\0/, ''))?.[1] ?? []))]
}

/** The text of THIRD_PARTY_LICENSES: each licence once, below the packages that have it. */
export function renderLicenses(folders) {
  const packages = new Map()
  for (const folder of folders.toSorted()) {
    const { name, text } = readLicense(folder)
    packages.set(text, [...(packages.get(text) ?? []), name])
  }
  const sections = [...packages].map(([text, names]) => `${[...new Set(names)].join('\n')}\n\n${text}`)
  return ['Phaselock contains code of the following packages, each under its own licence.', ...sections].join(
    `\n\n${'-'.repeat(80)}\n\n`,
  )
}

function readLicense(folder) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = readdirSync(folder).filter((file) => LICENSE_FILE.test(file))
  const texts = files.toSorted().map((file) => readFileSync(join(folder, file), 'utf8').trim())
  const text = texts.length > 0 ? texts.join('\n\n') : composeLicense(license, author?.name ?? author ?? name)
  if (text === null) throw new Error(`${name}@${version} has no licence that can be shipped`)
  return { name: `${name}@${version} (${license})`, text }
}

function composeLicense(license, owner) {
  const text = TEXTS[license]
  return text === undefined ? null : `Copyright (c) ${owner}\n\n${text}`
}
