import { openMemoryStore } from '../../src/store/memory.js'
import { storeSuite } from './suite.js'

storeSuite('memory', async (options) => openMemoryStore(options))
