/** Folders of the packages that modules of these chunks come from. */
export function listPackageFolders(chunks: readonly object[]): string[]

/** The text of THIRD_PARTY_LICENSES. A package without a licence ends the build. */
export function renderLicenses(folders: readonly string[]): string
