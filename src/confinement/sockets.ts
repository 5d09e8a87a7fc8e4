import { lstatSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { Job } from './confinement.js'
import { isInside } from './view/toolchains.js'

const SOCKETS_MAX = 8
const NAME = /^[a-z]{1,20}$/

/** Throws when a path is not a socket, or the author of the tree could have put it there. */
export function checkSockets({ sockets = [], tree }: Pick<Job, 'sockets' | 'tree'>): void {
  if (sockets.length > SOCKETS_MAX) throw new Error(`a command is given at most ${SOCKETS_MAX} sockets`)
  if (new Set(sockets.map(({ name }) => name)).size < sockets.length)
    throw new Error('two sockets of a command have the same name')
  for (const { name, path } of sockets) {
    if (!NAME.test(name)) throw new Error('the name of a socket is a short word in small letters')
    if (!isAbsolute(path) || isInside(tree, path) || lstatSync(path, { throwIfNoEntry: false })?.isSocket() !== true)
      throw new Error(`the socket ${name} does not exist`)
  }
}
