import { StoreRefused } from '../../store/store.js'
import { EXIT, Stop } from '../exit.js'

/** Does work on a store. What the store and the file system refuse ends the command with one line and code 1. */
export async function runOnStore<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof StoreRefused) throw new Stop(EXIT.refused, error.message, { code: error.code })
    const { code, path } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC') throw new Stop(EXIT.refused, `${what}: the disk is full. Nothing was left behind.`)
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EPERM' || code === 'EROFS' || code === 'ENOTDIR')
      throw new Stop(EXIT.refused, `${what}: ${path ?? 'a file'} cannot be used (${code}).`)
    throw error
  }
}
