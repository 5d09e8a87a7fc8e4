import { readFileSync } from 'node:fs'
import { PACKAGE_ROOT } from '../base/package-root.js'
import { type Database, openDatabase } from '../store/database.js'

const TABLE_FILE = new URL('runtime/embedding/related-words.txt', PACKAGE_ROOT)

let opened: Database | null = null

/**
 * Words with nearly the same meaning, nearest first, from a fixed table (see docs/knowledge.md); empty for an unknown
 * word.
 */
export function listRelated(word: string): readonly string[] {
  opened ??= openTable(readFileSync(TABLE_FILE, 'utf8'))
  const row = opened
    .prepare('SELECT near FROM words WHERE words MATCH ? ORDER BY rowid LIMIT 1')
    .get(`"${word.replaceAll('"', '""')}"`)
  return row === undefined ? [] : String(row.near).split(' ')
}

// A full-text index with the stemmer of the search file: every form of a word finds its line.
function openTable(text: string): Database {
  const database = openDatabase(':memory:')
  database.exec(`CREATE VIRTUAL TABLE words USING fts5 (word, near UNINDEXED, tokenize = 'porter unicode61'); BEGIN`)
  const insert = database.prepare('INSERT INTO words (word, near) VALUES (?, ?)')
  for (const line of text.split('\n')) {
    const end = line.indexOf(' ')
    if (end > 0) insert.run(line.slice(0, end), line.slice(end + 1))
  }
  database.exec('COMMIT')
  return database
}
