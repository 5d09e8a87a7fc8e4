/** A finished install, and which of its changes were kept. */
interface InstallRecord {
  readonly command: readonly string[]
  /** The folder it ran in, relative to the work tree. */
  readonly cwd: string
  readonly exitCode: number
  /** Whether its changes were kept: all of them, or none. */
  readonly success: boolean
  /** Why nothing was kept. */
  readonly detail: string | null
  readonly durationMs: number
  /** Manifests, lock files and folders of packages that changed. */
  readonly paths: readonly string[]
  /** How many files and folders changed in all. */
  readonly changeCount: number
}

export type InstallFact = InstallRecord & {
  readonly type: 'install_finished'
  /** The approval that was used up; null: an operator asked for it. */
  readonly approvalId: string | null
}

export type InstallCommand = InstallRecord & {
  readonly type: 'finish_install'
  /** What was approved; null: an operator asks for it. */
  readonly digest: string | null
  /** The record of RED with the new dependencies; null: unchanged, or no record. */
  readonly pinned: { readonly files: Readonly<Record<string, string>>; readonly run: string } | null
}
