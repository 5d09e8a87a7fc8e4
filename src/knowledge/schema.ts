import { rmSync } from 'node:fs'
import { type Database, openDatabase } from '../store/database.js'

/** Incremented whenever passages are cut or described differently: an index with another layout is rebuilt. */
const LAYOUT = '3'

const TABLES = `
  CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS files (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, hash TEXT NOT NULL, phases TEXT NOT NULL, sealed INTEGER NOT NULL,
    tags TEXT NOT NULL, workflow TEXT);
  CREATE TABLE IF NOT EXISTS chunks (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, ordinal INTEGER NOT NULL, section INTEGER NOT NULL, path TEXT NOT NULL,
    start_line INTEGER NOT NULL, tokens INTEGER NOT NULL, content TEXT NOT NULL, text_hash TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS chunks_of_file ON chunks (file);
  CREATE INDEX IF NOT EXISTS chunks_of_text ON chunks (text_hash);
  CREATE TABLE IF NOT EXISTS vectors (
    text_hash TEXT NOT NULL, model TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (text_hash, model)) WITHOUT ROWID;
  CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (heading, breadcrumb, body, names, tokenize = 'porter unicode61');
`

/** Opens the search file. Everything in it can be rebuilt: a broken file or another layout is replaced. */
export function openSearchFile(file: string): Database {
  try {
    return openChecked(file)
  } catch {
    for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
    return openChecked(file)
  }
}

function openChecked(file: string): Database {
  const database = openDatabase(file)
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32000;')
    database.exec(TABLES)
    const layout = database.prepare('SELECT value FROM meta WHERE key = ?').get('layout')?.value
    if (layout !== undefined && layout !== LAYOUT) throw new Error(`the search file has layout ${String(layout)}`)
    database.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)').run('layout', LAYOUT)
    const check = database.prepare('PRAGMA quick_check(1)').get()
    if (check?.quick_check !== 'ok') throw new Error('the search file is damaged')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}
