import { openMemoryStore } from './memory-store.js'
import { storeSuite } from './suite.js'

storeSuite('memory', async (options) => openMemoryStore(options))
