import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { EmbedderChoice } from '../../src/knowledge/embedder.js'
import { type Knowledge, openKnowledge } from '../../src/knowledge/knowledge.js'
import type { SearchRequest } from '../../src/knowledge/search.js'
import type { Document, Question } from './corpus/corpus.js'

export interface Library {
  readonly dir: string
  readonly root: string
  readonly stateDir: string
  write(file: string, text: string): void
  remove(file: string): void
  open(embedder?: EmbedderChoice, options?: Partial<Parameters<typeof openKnowledge>[0]>): Knowledge
  /** Closes what was opened and removes the folder. */
  end(): Promise<void>
}

/** A folder of documents and a place for the index beside it. */
export function library(documents: readonly Document[] = []): Library {
  const dir = mkdtempSync(join(tmpdir(), 'phaselock-knowledge-'))
  const root = join(dir, 'tree')
  const stateDir = join(dir, 'state')
  mkdirSync(root)
  const opened: Knowledge[] = []
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  for (const { file, text } of documents) write(file, text)
  return {
    dir,
    root,
    stateDir,
    write,
    remove: (file) => rmSync(join(root, file), { recursive: true }),
    open: (embedder = { type: 'none' }, options = {}) => {
      const knowledge = openKnowledge({
        ...{ stateDir, root, sources: ['**/*.md'], isWatching: false, embedder },
        ...options,
      })
      opened.push(knowledge)
      return knowledge
    },
    end: async () => {
      for (const one of opened) await one.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export function asking(query: string, about: Partial<SearchRequest> = {}): SearchRequest {
  return { query, phase: null, tags: [], workflow: null, limit: 5, visible: null, ...about }
}

export interface Recall {
  readonly at1: number
  readonly at3: number
  readonly at5: number
  readonly missed: readonly string[]
}

/** The share of questions whose passage is among the first results. */
export async function recallOf(knowledge: Knowledge, questions: readonly Question[]): Promise<Recall> {
  const places: number[] = []
  const missed: string[] = []
  for (const { file, heading, text, kind } of questions) {
    const { results } = await knowledge.search(asking(text))
    const at = results.findIndex((one) => one.file === file && one.section.split(' > ').at(-1) === heading)
    places.push(at < 0 ? Number.POSITIVE_INFINITY : at)
    if (at < 0) missed.push(`${kind}: ${text} (${file} # ${heading})`)
  }
  const within = (count: number): number => places.filter((at) => at < count).length / places.length
  return { at1: within(1), at3: within(3), at5: within(5), missed }
}
