import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = new URL('..', import.meta.url).pathname

interface Entry {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

describe.each(['package-lock.json', 'runtime/embedding/package-lock.json'])('%s', (name) => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, name), 'utf8')) as {
    readonly packages: Readonly<Record<string, Entry>>
  }

  // `npm install` leaves out what it cannot fetch for other platforms, and `npm ci` then refuses on all of them.
  it('[REQ-BYHAND-1] every package that an entry names has an entry of its own, those of other platforms too', () => {
    const missing = Object.entries(packages).flatMap(([place, entry]) => {
      const { dependencies, optionalDependencies, devDependencies } = entry
      const named = Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies })
      return named.filter((one) => !placesAbove(place, one).some((above) => above in packages))
    })
    expect(missing).toEqual([])
  })
})

/** Where a package looks for another one, nearest first. */
function placesAbove(place: string, name: string): readonly string[] {
  const parts = place === '' ? [] : place.split('/node_modules/')
  const above = parts.map((_, at) => `${parts.slice(0, parts.length - at).join('/node_modules/')}/node_modules/${name}`)
  return [...above, `node_modules/${name}`]
}
