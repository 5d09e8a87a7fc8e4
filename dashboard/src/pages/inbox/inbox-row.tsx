import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { InboxItem } from '../../api/inbox.js'
import { Icon } from '../../ui/icon.js'
import { Phase } from '../../ui/marks.js'
import { toPlainText } from '../../ui/plain-text.js'
import { dropToolList } from '../../ui/text/drop-tool-list.js'
import { Age } from '../../ui/time.js'
import { toToneClass } from '../../ui/tone.js'
import { AlertActions } from './alert-actions.js'
import { ApprovalActions } from './approval-actions.js'
import { ContractActions } from './contract-actions.js'
import { getLook, toItemLink } from './item-look.js'
import { ParkedActions } from './parked-actions.js'
import { QuestionActions } from './question-actions.js'
import { UnexplainedActions } from './unexplained-actions.js'

interface Props {
  readonly item: InboxItem
  readonly rowId: string
  readonly isCurrent: boolean
  /** Whether to load what belongs to the item; the first rows are shown at once, others when they are chosen. */
  readonly isNear: boolean
  readonly onFocus: () => void
}

/** One thing that waits: what it is, where, since when, and what can be done about it. */
export function InboxRow({ item, rowId, isCurrent, isNear, onFocus }: Props): ReactNode {
  const { name, icon, tone } = getLook(item.kind)
  const title = OWN_TITLE.includes(item.kind) ? item.title : (item.task_title ?? item.title)
  return (
    <li
      className={`item ${toToneClass(tone)}${isCurrent ? ' item--sel' : ''}`}
      data-row={rowId}
      aria-current={isCurrent ? true : undefined}
      onFocus={(event) => {
        // Not for the pointer: the hints of keys would move the button that is being pressed.
        if (event.target.matches(':focus-visible')) onFocus()
      }}
    >
      <span className="item__icon">
        <Icon name={icon} />
      </span>
      <div className="item__main">
        <p className="item__kind">
          <b>{name}</b>
          {item.phase === null ? null : <Phase>{item.phase}</Phase>}
          {item.task_id === null ? null : (
            <Link to="/tasks/$id" params={{ id: item.task_id }}>
              {item.task_id}
            </Link>
          )}
          {item.agent_id === null ? null : <span>{item.agent_id}</span>}
        </p>
        <h3 className="item__title">
          <Link {...toItemLink(item)}>{toPlainText(title)}</Link>
        </h3>
        <Body item={item} />
        <Actions item={item} isCurrent={isCurrent} isNear={isNear} />
      </div>
      <p className="item__age">
        <span className="hide-s">waits </span>
        <b>
          <Age since={item.since} />
        </b>
      </p>
    </li>
  )
}

/** Kinds whose title says more than the title of their task. */
const OWN_TITLE: readonly InboxItem['kind'][] = ['question', 'contract']

function Body({ item }: { readonly item: InboxItem }): ReactNode {
  const text = describe(item)
  return text === '' ? null : <p className="item__body">{toPlainText(text)}</p>
}

function describe({ kind, title, detail }: InboxItem): string {
  // The options of a question are its buttons.
  if (kind === 'question') return ''
  if (kind === 'approval') return detail === '' ? title : `${title}: ${detail}`
  // What kind it is stands above; an alert without words of the contract has its condition.
  return detail === '' ? title : dropToolList(detail)
}

function Actions({ item, isCurrent, isNear }: Pick<Props, 'item' | 'isCurrent' | 'isNear'>): ReactNode {
  switch (item.kind) {
    case 'approval':
      return <ApprovalActions item={item} isCurrent={isCurrent} isNear={isNear} />
    case 'question':
      return <QuestionActions item={item} />
    case 'parked':
      return <ParkedActions item={item} />
    case 'unexplained':
      return <UnexplainedActions item={item} />
    case 'contract':
      return <ContractActions item={item} />
    case 'alert':
    case 'tree_missing':
      return <AlertActions item={item} />
    default:
      return null
  }
}
