import { KeyedLock } from '../../base/keyed-lock.js'

/** By root of the tree: no other call of this process interferes between a read and its write. */
export const treeLock = new KeyedLock()
