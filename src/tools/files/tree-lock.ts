import { KeyedLock } from '../../base/keyed-lock.js'

/** By root of the tree: what is read, changed and written back is not overtaken by another call of this process. */
export const treeLock = new KeyedLock()
