import { RE2JS } from 're2js'
import { matchesGlob } from '../../contract/glob.js'
import type { FileJob, GlobFound, GrepFound } from './file-jobs.js'
import { readText, type Search, walkCandidates } from './search-tree.js'

const FILE_BYTES_MAX = 4 * 1024 * 1024
const ALL_BYTES_MAX = 512 * 1024 * 1024
const TEXT_CHARS_MAX = 500
const TEXT_CHARS_BEFORE = 100
const PATTERN_CHARS_MAX = 4096

type GlobJob = Extract<FileJob, { readonly type: 'glob' }>
type GrepJob = Extract<FileJob, { readonly type: 'grep' }>

export async function searchTreeByGlob(search: Search, job: GlobJob): Promise<GlobFound> {
  const paths: string[] = []
  const isWanted = (below: string) => matchesGlob(job.pattern, below)
  for await (const { path } of walkCandidates(search, { isWanted, needsContent: false })) {
    if (paths.length >= job.limit) return { paths, truncated: true }
    paths.push(path)
  }
  return { paths, truncated: search.isCut }
}

type CompiledRegex = { readonly ok: true; readonly regex: RE2JS } | { readonly ok: false; readonly detail: string }

/** Linear time by construction; other patterns are refused. */
export function compileRegex(pattern: string, ignoresCase: boolean): CompiledRegex {
  if (pattern === '') return { ok: false, detail: 'it is empty' }
  if (pattern.length > PATTERN_CHARS_MAX)
    return { ok: false, detail: `it is longer than ${PATTERN_CHARS_MAX} characters` }
  try {
    const flags = ignoresCase ? RE2JS.CASE_INSENSITIVE : 0
    return { ok: true, regex: RE2JS.compile(RE2JS.translateRegExp(pattern), flags) }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    return { ok: false, detail: reason.replace(/^error parsing regexp: /, '') }
  }
}

export async function grepTree(search: Search, job: GrepJob, regex: RE2JS): Promise<GrepFound> {
  const matches: GrepFound['matches'][number][] = []
  // A pattern without special characters is searched in the bytes first: most files need not be decoded.
  const literal = !job.ignoresCase && /^[\w\s:;,'"<>=@#%&!~`/-]{1,64}$/.test(job.pattern) ? job.pattern : null
  let bytesLeft = ALL_BYTES_MAX
  for await (const { path, fd } of walkCandidates(search, { isWanted: makeGlobFilter(job.glob), needsContent: true })) {
    const read = fd === null ? null : readText(fd, FILE_BYTES_MAX)
    if (read === null) continue
    bytesLeft -= read.bytes.length
    if (bytesLeft < 0) return { matches, truncated: true }
    if (read.isCut) search.isCut = true
    if (literal !== null && !read.bytes.includes(literal)) continue
    for (const { line, text } of findMatchingLines(read.bytes.toString('utf8'), regex)) {
      if (matches.length >= job.limit) return { matches, truncated: true }
      matches.push({ path, line, text })
    }
  }
  return { matches, truncated: search.isCut }
}

/** Without a slash the pattern matches names in any folder. */
function makeGlobFilter(glob: string | null): (below: string) => boolean {
  if (glob === null) return () => true
  if (glob.includes('/')) return (below) => matchesGlob(glob, below)
  return (below) => matchesGlob(glob, below.slice(below.lastIndexOf('/') + 1))
}

function* findMatchingLines(text: string, regex: RE2JS): Generator<{ readonly line: number; readonly text: string }> {
  let line = 0
  for (let from = 0; from < text.length; ) {
    const newline = text.indexOf('\n', from)
    const end = newline === -1 ? text.length : newline
    const one = text.slice(from, text[end - 1] === '\r' && end > from ? end - 1 : end)
    line += 1
    if (regex.test(one)) yield { line, text: formatLine(one, regex) }
    from = end + 1
  }
}

function formatLine(line: string, regex: RE2JS): string {
  if (line.length <= TEXT_CHARS_MAX) return line
  const matcher = regex.matcher(line)
  const from = matcher.find() ? Math.max(0, matcher.start() - TEXT_CHARS_BEFORE) : 0
  const part = line.slice(from, from + TEXT_CHARS_MAX)
  return `${from > 0 ? '…' : ''}${part}${from + TEXT_CHARS_MAX < line.length ? '…' : ''}`
}
