/** The test file that a snapshot file of jest or vitest belongs to; null for any other file. */
export function findSnapshotTest(path: string): string | null {
  const [, folder = '', test] = /^(.*\/)?__snapshots__\/([^/]+)\.snap$/s.exec(path) ?? []
  return test === undefined ? null : `${folder}${test}`
}
