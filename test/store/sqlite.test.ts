import { openSqliteStore } from '../../src/store/sqlite.js'
import { temporaryDirectory } from './events.js'
import { storeSuite } from './suite.js'

storeSuite('SQLite', (options) => openSqliteStore({ dir: temporaryDirectory(), ...options }))
