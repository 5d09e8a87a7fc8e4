import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { constants } from 'node:os'

/** Which files a fault is for: the masks of recorder.c. */
export const FILES = { database: 1, head: 2, other: 4, all: 7 }
/** Where recorder.c says that a fault was met. */
export const HITS = 6

export interface Fault {
  readonly files: number
  readonly write?: keyof typeof constants.errno
  readonly sync?: keyof typeof constants.errno
  readonly open?: keyof typeof constants.errno
  readonly syncDelayTenths?: number
}

/** The switchboard of a running program: the file is memory that the program shares. */
export class Faults {
  constructor(readonly file: string) {
    writeFileSync(file, Buffer.alloc(16))
  }

  set(fault: Fault): void {
    const code = (name: keyof typeof constants.errno | undefined) => (name === undefined ? 0 : constants.errno[name])
    this.#write([fault.files, code(fault.write), code(fault.sync), code(fault.open), fault.syncDelayTenths ?? 0, 0, 0])
  }

  clear(): void {
    this.#write([0, 0, 0, 0, 0, 0, 0])
  }

  /** Whether the fault was met since it was set. */
  get wasMet(): boolean {
    return readFileSync(this.file)[HITS] === 1
  }

  // In place: the program has this very file mapped.
  #write(bytes: readonly number[]): void {
    const handle = openSync(this.file, 'r+')
    try {
      writeSync(handle, Buffer.from(bytes), 0, bytes.length, 0)
    } finally {
      closeSync(handle)
    }
  }
}
