/** The version of this program; sent to upstream servers and written into the ledger. */
export const PROGRAM_VERSION = '0.2.0'
