/** One path of a work tree that a call changed, or would change. */
export interface Change {
  /** Relative to the work tree, `/`-separated. */
  readonly path: string
  readonly kind: 'created' | 'modified' | 'deleted'
  readonly type: 'file' | 'directory' | 'link'
  /** SHA-256 of the new content; null if it is not a file, or is deleted. */
  readonly bytes: number | null
  readonly sha256: string | null
  /**
   * Why this can never reach the tree, whatever the contract says (a device, a link that leaves the tree); null
   * otherwise.
   */
  readonly problem: string | null
}
