import type { Change } from '../tree/change.js'

export async function commitChanges(_tree: string, _after: string, _list: readonly Change[]): Promise<void> {
  throw new Error('later')
}
