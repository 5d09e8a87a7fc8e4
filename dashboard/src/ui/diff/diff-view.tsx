import { type ReactNode, useRef, useState } from 'react'
import { showHidden } from '../text/hidden-characters.js'
import type { FileDiff, TreeDiff } from './diff-types.js'
import { FileRows } from './file-rows.js'
import { Delta, FileMark, FileTree } from './file-tree.js'
import './diff.css'

const OMITTED = {
  binary: 'A binary file: its content is not shown.',
  too_large: 'Too large to be shown with the others.',
  too_many_files: 'Too many files changed to show this one with the others.',
  secret: 'Not shown, because the file may hold secrets.',
  not_kept: 'Its earlier content was not kept.',
} as const

export interface DiffViewProps {
  readonly diff: TreeDiff
  /** Shows one file whole, where it was left out for its size. */
  readonly onLoad?: (path: string) => void
  /** What stands above a file's lines, such as what an unexplained change is. */
  readonly note?: (file: FileDiff) => ReactNode
}

/** Changed files: a tree beside their diffs. Everything in it is text. */
export function DiffView({ diff, onLoad, note }: DiffViewProps) {
  const [current, setCurrent] = useState<string | null>(diff.files[0]?.path ?? null)
  const list = useRef<HTMLDivElement>(null)
  const showFile = (path: string) => {
    setCurrent(path)
    const index = diff.files.findIndex((file) => file.path === path)
    const shown = list.current?.children[index]
    shown?.scrollIntoView({ block: 'start' })
    shown?.querySelector<HTMLElement>('h3')?.focus({ preventScroll: true })
  }
  return (
    <div className="diff-view">
      <FileTree files={diff.files} current={current} onPick={showFile} />
      <div className="diff-files" ref={list}>
        {diff.files.map((file) => (
          <FilePart key={file.path} file={file} note={note?.(file)} {...(onLoad === undefined ? {} : { onLoad })} />
        ))}
        {diff.truncated && (
          <p className="diff-cut">Not everything is shown: the change is larger than what fits here.</p>
        )}
      </div>
    </div>
  )
}

interface FilePartProps extends Pick<DiffViewProps, 'onLoad'> {
  readonly file: FileDiff
  readonly note: ReactNode
}

function FilePart({ file, note, onLoad }: FilePartProps) {
  const [isOpen, setOpen] = useState(true)
  return (
    <article className="diff-file">
      <header className="diff-head">
        <h3 tabIndex={-1}>
          <button type="button" className="diff-fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            <span className="diff-arrow" aria-hidden="true" />
            <FileMark file={file} />
            <span className="diff-path">{showHidden(file.path)}</span>
          </button>
        </h3>
        {file.unexplained && <span className="badge tone-refused">Unexplained</span>}
        {file.status !== 'modified' && <span className="diff-note">{file.status === 'added' ? 'new' : 'deleted'}</span>}
        {file.pinned && <span className="diff-note">pinned test</span>}
        <Delta {...file} />
      </header>
      {isOpen && note}
      {isOpen && <FileBody file={file} {...(onLoad === undefined ? {} : { onLoad })} />}
    </article>
  )
}

function FileBody({ file, onLoad }: Omit<FilePartProps, 'note'>) {
  if (file.hunks.length > 0) return <FileRows file={file} />
  const canLoad = onLoad !== undefined && (file.omitted === 'too_large' || file.omitted === 'too_many_files')
  return (
    <p className="diff-cut">
      {file.omitted === null ? 'No line changed.' : OMITTED[file.omitted]}{' '}
      {canLoad && (
        <button type="button" className="btn" onClick={() => onLoad(file.path)}>
          Show this file
        </button>
      )}
    </p>
  )
}
