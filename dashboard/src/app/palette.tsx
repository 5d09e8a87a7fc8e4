import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { Button } from '../ui/button.js'
import { Icon } from '../ui/icon.js'
import { ShortcutHint } from '../ui/shortcut-hint.js'
import { closeOverlay, takeTyped } from './overlays.js'
import { type Entry, findMatch, useEntries } from './palette-entries.js'

/** Finds tasks, agents, pages and actions. */
export function Palette(): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null)
  const navigate = useNavigate()
  const [words, setWords] = useState('')
  const [chosen, setChosen] = useState(0)
  const entries = useEntries(words)
  const at = Math.min(chosen, entries.length - 1)
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    setWords(takeTyped())
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  useEffect(() => {
    document.getElementById(`palette-${at}`)?.scrollIntoView({ block: 'nearest' })
  }, [at])
  const open = (entry: Entry | undefined, inNewTab: boolean): void => {
    if (entry === undefined) return
    closeOverlay()
    if (entry.to === undefined) entry.run?.()
    else if (inNewTab) window.open(entry.to, '_blank', 'noopener')
    else void navigate({ href: entry.to })
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) setChosen((at + step + entries.length) % Math.max(1, entries.length))
    else if (event.key === 'Enter') open(entries[at], event.ctrlKey || event.metaKey)
    else return
    event.preventDefault()
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside the dialog closes it; Escape does the same
    <dialog
      ref={dialog}
      className="palette"
      aria-label="Find or do"
      onCancel={(event) => {
        event.preventDefault()
        closeOverlay()
      }}
      onClick={(event) => event.target === dialog.current && closeOverlay()}
    >
      <div className="palette__in">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label="Find tasks, agents, pages and actions"
          aria-expanded={entries.length > 0}
          aria-controls="palette-list"
          aria-activedescendant={entries.length > 0 ? `palette-${at}` : undefined}
          aria-autocomplete="list"
          autoComplete="off"
          spellCheck={false}
          placeholder="Find or do"
          value={words}
          onKeyDown={onKeyDown}
          onChange={(event) => {
            setWords(event.target.value)
            setChosen(0)
          }}
        />
        <Button look="ghost" shortcut="Esc" onClick={closeOverlay}>
          Close
        </Button>
      </div>
      <Results entries={entries} words={words} chosen={at} onOpen={open} />
      <div className="palette__foot">
        <span>
          <kbd>↑</kbd> <kbd>↓</kbd> move
        </span>
        <span>
          <kbd>Enter</kbd> open
        </span>
        <span>
          <kbd>Ctrl</kbd> <kbd>Enter</kbd> in a new tab
        </span>
        <span role="status">
          {entries.length} {entries.length === 1 ? 'result' : 'results'}
        </span>
      </div>
    </dialog>
  )
}

interface ResultsProps {
  readonly entries: readonly Entry[]
  readonly words: string
  readonly chosen: number
  readonly onOpen: (entry: Entry, inNewTab: boolean) => void
}

function Results({ entries, words, chosen, onOpen }: ResultsProps): ReactNode {
  const groups = [...new Set(entries.map(({ group }) => group))]
  return (
    <div className="palette__list" id="palette-list" role="listbox" aria-label="Results">
      {entries.length === 0 ? <p className="palette__group">Nothing fits “{words}”.</p> : null}
      {groups.map((group) => (
        // biome-ignore lint/a11y/useSemanticElements: a listbox groups its options by role
        <div key={group} role="group" aria-label={group}>
          <p className="palette__group">{group}</p>
          {entries.map((entry, index) =>
            entry.group === group ? (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys
              <div
                key={entry.id}
                id={`palette-${index}`}
                className="opt"
                role="option"
                tabIndex={-1}
                aria-selected={index === chosen}
                onClick={(event) => onOpen(entry, event.ctrlKey || event.metaKey)}
              >
                <Icon name={entry.icon} />
                <span className="opt__name">
                  <Marked name={entry.name} words={words} />
                </span>
                <span className="opt__side">
                  {entry.group === 'Tasks' ? <span className="phase">{entry.side}</span> : entry.side}
                  {entry.keys === undefined ? null : <ShortcutHint keys={entry.keys} />}
                </span>
              </div>
            ) : null,
          )}
        </div>
      ))}
    </div>
  )
}

function Marked({ name, words }: { readonly name: string; readonly words: string }): ReactNode {
  const match = findMatch(name, words)
  if (match === null) return name
  return (
    <>
      {name.slice(0, match.start)}
      <mark>{name.slice(match.start, match.end)}</mark>
      {name.slice(match.end)}
    </>
  )
}
