import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openDatabase } from '../../src/store/database.js'
import { openSqliteStore } from '../../src/store/sqlite-store.js'
import { verifyDirectory } from '../../src/store/verify/verify-ledger.js'
import { newTask } from './events.js'
import { ledgerOnDisk, tamper } from './ledger-on-disk.js'
import { one } from './suite-tools.js'

test('[REQ-QUESTION-9] a ledger from before there were questions is opened, verified and takes questions', async () => {
  const dir = await ledgerOnDisk()
  tamper(dir, (database) => {
    database.exec('DROP INDEX task_open_questions; DROP INDEX task_questions')
    database.exec('ALTER TABLE task DROP COLUMN questions; ALTER TABLE task DROP COLUMN open_questions')
    database.exec("UPDATE task SET document = json_remove(document, '$.questions', '$.openQuestions')")
    database.exec("UPDATE meta SET value = '2' WHERE name = 'schema_version'")
  })
  const store = await openSqliteStore({ dir })
  expect(await store.findTask('a')).toEqual(newTask('a'))
  expect((await store.queryTasks({ hasQuestion: 'any', limit: 9 })).items).toEqual([])
  await store.append(one('task:a', 4, { task: newTask('a', { openQuestions: 1, questions: 1 }) }))
  expect((await store.queryTasks({ hasQuestion: 'open', limit: 9 })).items.map((task) => task.id)).toEqual(['a'])
  await store.close()
  expect((await verifyDirectory(dir)).problems).toEqual([])
})

test('[REQ-QUESTION-9] a page of tasks with questions is read from an index, in order', async () => {
  const dir = await ledgerOnDisk()
  const database = openDatabase(join(dir, 'ledger.db'), { readOnly: true })
  for (const column of ['open_questions', 'questions']) {
    const sql = `SELECT num, document FROM task WHERE num < 9 AND ${column} > 0 ORDER BY num DESC LIMIT 10`
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
    expect(plan.map((row) => row.detail)).toEqual([`SEARCH task USING INDEX task_${column} (num<?)`])
  }
  database.close()
})
