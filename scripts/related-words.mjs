// `node scripts/related-words.mjs [file]`: writes runtime/embedding/related-words.txt, for each word the words nearest to it in meaning.
// The words are those in the table, or of a file with one word in each line; the packaged model must be installed and `dist` built.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { loadMiniLm } from '../dist/knowledge/minilm.js'
import { openDatabase } from '../dist/store/database.js'

const TABLE = fileURLToPath(new URL('../runtime/embedding/related-words.txt', import.meta.url))
const SIMILARITY_MIN = 0.55
const NEAR_MAX = 12

const given = readFileSync(process.argv[2] ?? TABLE, 'utf8').split('\n')
const words = oneForEachStem(given.map((line) => line.split(' ')[0]).filter((word) => word !== ''))
const vectors = await vectorsOf(words)
const lines = words.map((word, at) => [word, ...nearestTo(at)]).filter((line) => line.length > 1)
writeFileSync(TABLE, `${lines.map((line) => line.join(' ')).join('\n')}\n`)
console.log(`${lines.length} words in ${TABLE}`)

// Search knows words by their stems alone: of each the first is taken.
function oneForEachStem(all) {
  const database = openDatabase(':memory:')
  database.exec(`CREATE VIRTUAL TABLE words USING fts5 (word, tokenize = 'porter unicode61');
    CREATE VIRTUAL TABLE stems USING fts5vocab (words, instance);`)
  all.forEach((word, at) => {
    database.prepare('INSERT INTO words (rowid, word) VALUES (?, ?)').run(at + 1, word)
  })
  const firsts = database.prepare('SELECT min(doc) AS first FROM stems GROUP BY term ORDER BY first').all()
  database.close()
  return firsts.map(({ first }) => all[Number(first) - 1])
}

async function vectorsOf(all) {
  const loaded = await loadMiniLm(null)
  if (!loaded.ok) throw new Error(loaded.reason)
  const found = []
  for (const word of all) found.push(await loaded.embedder.embed(word))
  await loaded.embedder.close()
  return found
}

function nearestTo(at) {
  const near = words
    .map((word, other) => ({ word, similarity: other === at ? 0 : dot(vectors[at], vectors[other]) }))
    .filter(({ similarity }) => similarity >= SIMILARITY_MIN)
  near.sort((a, b) => b.similarity - a.similarity || (a.word < b.word ? -1 : 1))
  return near.slice(0, NEAR_MAX).map(({ word }) => word)
}

function dot(a, b) {
  let sum = 0
  for (let at = 0; at < a.length; at += 1) sum += a[at] * b[at]
  return sum
}
