import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DASHBOARD_PATHS } from '../../src/http/dashboard.js'
import { type Running, start } from '../http/harness.js'

const BUILT = new URL('../../dist/dashboard', import.meta.url).pathname
const FIRST_PAGE_BYTES_MAX = 300 * 1024
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

describe('how the dashboard is served', () => {
  let run: Running
  beforeAll(async () => {
    run = await start()
  })
  afterAll(() => run.stop())

  const get = (path: string) => fetch(`${run.url}${path}`)

  it('[REQ-DASH-5] files that are not part of the dashboard are not found, whatever the name', async () => {
    for (const name of ['index.html', 'missing.js', '..%2findex.html', '..%2f..%2fpackage.json', '%2fetc%2fpasswd', ''])
      expect((await get(`/assets/${name}`)).status, name).toBe(404)
  })

  it('[REQ-DASH-10] a program gets a problem document for what does not exist, a person a page', async () => {
    const ask = (path: string, accept: string, method = 'GET') =>
      fetch(`${run.url}${path}`, { method, headers: { accept } })
    const typeOf = async (answer: Promise<Response>) => {
      const { status, headers } = await answer
      return `${status} ${headers.get('content-type')}`
    }
    const problem = '404 application/problem+json'
    for (const path of ['/api/v1/nowhere', '/api', '/api?x', '/assets/none.js', '/mcp/none'])
      expect(await typeOf(ask(path, 'text/html,*/*;q=0.8')), path).toContain(problem)
    for (const accept of ['*/*', 'application/json', 'text/plain', 'application/xhtml+xml'])
      expect(await typeOf(ask('/nowhere', accept)), accept).toContain(problem)
    expect(await typeOf(ask('/nowhere', 'text/html', 'POST'))).toContain(problem)
    const page = ask('/nowhere', 'text/html,application/xhtml+xml,*/*;q=0.8')
    expect(await typeOf(page)).toBe('404 text/html; charset=utf-8')
    expect((await page).headers.get('content-security-policy')).toBe(POLICY)
  })

  it('[REQ-DASH-5] every page answers with the same document under a policy without exceptions', async () => {
    const html = readFileSync(join(BUILT, 'index.html'), 'utf8')
    for (const path of DASHBOARD_PATHS) {
      const answer = await get(path.replace(/:\w+/, 'x'))
      expect(answer.status, path).toBe(200)
      expect(answer.headers.get('content-security-policy')).toBe(POLICY)
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
      expect(answer.headers.get('x-frame-options')).toBe('DENY')
      expect(answer.headers.get('cache-control')).toBe('no-cache')
      expect(await answer.text()).toBe(html)
    }
  })

  it('[REQ-DASH-5] the document has nothing inline, and its files may be kept for ever', async () => {
    const html = readFileSync(join(BUILT, 'index.html'), 'utf8')
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=|https?:/)
    const linked = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '')
    expect(linked.length).toBeGreaterThan(2)
    for (const path of linked) {
      const answer = await get(path)
      expect(answer.status, path).toBe(200)
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    }
  })

  it('[REQ-DASH-5] the first page needs at most 300 KB of compressed JavaScript', () => {
    const files = readdirSync(join(BUILT, 'assets')).filter((name) => name.endsWith('.js'))
    const needed = new Set(findImports(readFileSync(join(BUILT, 'index.html'), 'utf8')))
    for (const start of [/^index-/, /^inbox-page-/, /^login-page-/])
      for (const name of files.filter((file) => start.test(file))) needed.add(name)
    // What a file imports at its start is loaded with it; what it imports later is not.
    for (const name of needed)
      for (const other of findImports(readFileSync(join(BUILT, 'assets', name), 'utf8'))) needed.add(other)
    const bytes = [...needed].map((name) => gzipSync(readFileSync(join(BUILT, 'assets', name))).length)
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(FIRST_PAGE_BYTES_MAX)
    expect(needed.size).toBeGreaterThan(2)
  })
})

function findImports(text: string): readonly string[] {
  const imports = text.matchAll(/(?:\bfrom|\bimport)\s*["']\.\/([\w.-]+\.js)["']|src="\/assets\/([\w.-]+\.js)"/g)
  return [...imports].map(([, imported, linked]) => imported ?? linked ?? '')
}
