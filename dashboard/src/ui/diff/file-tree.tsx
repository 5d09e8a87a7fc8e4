import { showHidden } from '../text/hidden-characters.js'
import type { FileDiff } from './diff-types.js'

const LETTERS = { added: 'A', modified: 'M', deleted: 'D' } as const
const FILES_MAX = 500

/** The changed files by folder, each a link to its diff. */
export function FileTree({
  files,
  current,
  onPick,
}: {
  readonly files: readonly FileDiff[]
  readonly current: string | null
  readonly onPick: (path: string) => void
}) {
  return (
    <nav className="diff-tree" aria-label="Changed files">
      <ul>
        {groupByFolder(files.slice(0, FILES_MAX)).map(([folder, inside]) => (
          <li key={folder}>
            {folder !== '' && <span className="diff-dir">{showHidden(folder)}</span>}
            <ul>
              {inside.map((file) => (
                <li key={file.path}>
                  <button
                    type="button"
                    className="diff-file-link"
                    aria-current={file.path === current ? 'true' : undefined}
                    onClick={() => onPick(file.path)}
                  >
                    <FileMark file={file} />
                    <span className="diff-file-name">
                      {showHidden(file.path.slice(folder === '' ? 0 : folder.length + 1))}
                    </span>
                    {file.pinned && <span className="diff-note">pinned</span>}
                    <Delta {...file} />
                  </button>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      {files.length > FILES_MAX && <p className="diff-note">{files.length - FILES_MAX} more files</p>}
    </nav>
  )
}

/** One letter for what happened to a file, and the word for those who hear it. */
export function FileMark({ file }: { readonly file: FileDiff }) {
  const word = file.unexplained ? `unexplained, ${file.status}` : file.status
  return (
    <span className={`diff-mark diff-mark-${file.unexplained ? 'unexplained' : file.status}`} title={word}>
      <span aria-hidden="true">{file.unexplained ? '!' : LETTERS[file.status]}</span>
      <span className="sr">{word} </span>
    </span>
  )
}

/** How many lines came and went. */
export function Delta({ additions, deletions }: { readonly additions: number; readonly deletions: number }) {
  return (
    <span className="diff-delta">
      {additions > 0 && (
        <span className="diff-plus">
          +{additions.toLocaleString('en')}
          <span className="sr"> added </span>
        </span>
      )}
      {deletions > 0 && (
        <span className="diff-minus">
          −{deletions.toLocaleString('en')}
          <span className="sr"> removed </span>
        </span>
      )}
    </span>
  )
}

function groupByFolder(files: readonly FileDiff[]): readonly (readonly [string, readonly FileDiff[]])[] {
  const folders = new Map<string, FileDiff[]>()
  for (const file of files) {
    const folder = file.path.includes('/') ? file.path.slice(0, file.path.lastIndexOf('/')) : ''
    folders.set(folder, [...(folders.get(folder) ?? []), file])
  }
  return [...folders]
}
