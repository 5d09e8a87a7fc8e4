import { type ReactNode, useMemo, useRef, useState } from 'react'
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

/** A change of up to this many lines is in the page whole, so that the browser can search it. */
const WHOLE_LINES_MAX = 600

export interface DiffViewProps {
  readonly diff: TreeDiff
  /** Shows one file whole, where it was left out for its size. */
  readonly onLoad?: (path: string) => void
  /** What stands above a file's lines, such as what an unexplained change is. */
  readonly note?: (file: FileDiff) => ReactNode
}

/** Changed files: a tree beside their diffs. Everything in it is text. */
export function DiffView({ diff, onLoad, note }: DiffViewProps) {
  // What nobody explains is what a person has to decide on: it comes first.
  const files = useMemo(
    () => diff.files.toSorted((a, b) => Number(b.unexplained) - Number(a.unexplained)),
    [diff.files],
  )
  const [current, setCurrent] = useState<string | null>(files[0]?.path ?? null)
  const list = useRef<HTMLDivElement>(null)
  const isWhole = useMemo(() => countLines(files) <= WHOLE_LINES_MAX, [files])
  const showFile = (path: string) => {
    setCurrent(path)
    const index = files.findIndex((file) => file.path === path)
    const shown = list.current?.children[index]
    shown?.scrollIntoView({ block: 'start' })
    shown?.querySelector<HTMLElement>('h3')?.focus({ preventScroll: true })
  }
  return (
    <div className="diff-view">
      <FileTree files={files} current={current} onPick={showFile} />
      <div className="diff-files" ref={list}>
        {files.map((file) => (
          <FilePart
            key={file.path}
            file={file}
            isWhole={isWhole}
            note={note?.(file)}
            {...(onLoad === undefined ? {} : { onLoad })}
          />
        ))}
        {diff.truncated && (
          <p className="diff-cut">Not everything is shown: the change is larger than what fits here.</p>
        )}
      </div>
    </div>
  )
}

/** What the server puts in place of texts that look like secrets. */
const REDACTED = '[redacted]'

function hidesSecrets({ hunks }: FileDiff): boolean {
  return hunks.some(({ lines }) => lines.some((line) => line.includes(REDACTED)))
}

interface FilePartProps extends Pick<DiffViewProps, 'onLoad'> {
  readonly file: FileDiff
  readonly isWhole: boolean
  readonly note: ReactNode
}

function countLines(files: readonly FileDiff[]): number {
  return files.flatMap(({ hunks }) => hunks).reduce((sum, { lines }) => sum + lines.length, 0)
}

function FilePart({ file, isWhole, note, onLoad }: FilePartProps) {
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
        {file.other_task !== null && <span className="diff-note">changed by task {file.other_task}</span>}
        <Delta {...file} />
      </header>
      {isOpen && note}
      {isOpen && <FileBody file={file} isWhole={isWhole} {...(onLoad === undefined ? {} : { onLoad })} />}
    </article>
  )
}

function FileBody({ file, isWhole, onLoad }: Omit<FilePartProps, 'note'>) {
  if (file.hunks.length > 0)
    return (
      <>
        {hidesSecrets(file) && (
          <p className="diff-cut">What looks like a secret is hidden here ({REDACTED}); the file has it.</p>
        )}
        <FileRows file={file} isWhole={isWhole} />
      </>
    )
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
