import { openSqliteStore } from '../../src/store/sqlite-store.js'
import { temporaryDirectory } from './events.js'
import { storeSuite } from './suite.js'

storeSuite('SQLite', (options) => openSqliteStore({ dir: temporaryDirectory(), ...options }))
