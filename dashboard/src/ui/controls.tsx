import * as RadixMenu from '@radix-ui/react-dropdown-menu'
import * as RadixTabs from '@radix-ui/react-tabs'
import * as RadixTooltip from '@radix-ui/react-tooltip'
import { type ComponentProps, type ReactNode, useId } from 'react'
import { Icon, type IconName } from './icon.js'

interface Option<T extends string> {
  readonly value: T
  readonly name: string
  readonly icon?: IconName
}

interface SegmentedProps<T extends string> {
  readonly label: string
  readonly value: T
  readonly options: readonly Option<T>[]
  readonly onChange: (value: T) => void
}

/** A choice between a few views. */
export function Segmented<T extends string>({ label, value, options, onChange }: SegmentedProps<T>): ReactNode {
  return (
    <fieldset className="seg" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.icon === undefined ? null : <Icon name={option.icon} size={14} />}
          {option.name}
        </button>
      ))}
    </fieldset>
  )
}

/** A choice from a list, with its name before it. */
export function Pick<T extends string>({ label, value, options, onChange }: SegmentedProps<T>): ReactNode {
  return (
    <label className="pick">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.target.value as T)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.name}
          </option>
        ))}
      </select>
      <Icon name="down" size={12} />
    </label>
  )
}

interface ChipProps {
  readonly pressed: boolean
  readonly count?: number
  readonly onClick: () => void
  readonly children: ReactNode
}

/** A filter that is on or off. */
export function Chip({ pressed, count, onClick, children }: ChipProps): ReactNode {
  return (
    <button type="button" className="chip" aria-pressed={pressed} onClick={onClick}>
      {children} {count === undefined ? null : <span className="n">{count}</span>}
    </button>
  )
}

interface FieldProps extends ComponentProps<'input'> {
  readonly label: string
  readonly hint?: ReactNode
  readonly wrong?: string | null
}

/** A labelled input. */
export function Field({ label, hint, wrong, ...rest }: FieldProps): ReactNode {
  const id = useId()
  return (
    <label className="label" htmlFor={id}>
      {label}
      <input
        className="field"
        {...rest}
        id={id}
        aria-describedby={`${id}-hint`}
        aria-invalid={wrong ? true : undefined}
      />
      <span id={`${id}-hint`} className={wrong ? 'label__wrong' : 'label__hint'}>
        {wrong ?? hint}
      </span>
    </label>
  )
}

interface TickProps {
  readonly checked: boolean
  readonly onChange: (checked: boolean) => void
  readonly children: ReactNode
}

/** Something that is on or off. */
export function Tick({ checked, onChange, children }: TickProps): ReactNode {
  return (
    <label className="tick">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.target.checked)} />
      {children}
    </label>
  )
}

interface TextAreaProps extends Omit<ComponentProps<'textarea'>, 'value' | 'maxLength'> {
  readonly label: string
  readonly hint?: ReactNode
  readonly value: string
  /** What the server takes. A longer text is kept and said to be too long: cut silently, it would say something else. */
  readonly charsMax: number
}

/** A labelled text of several lines. */
export function TextArea({ label, hint, value, charsMax, ...rest }: TextAreaProps): ReactNode {
  const id = useId()
  const excess = describeExcess(value, charsMax)
  return (
    <label className="label" htmlFor={id}>
      {label}
      <textarea
        className="field"
        {...rest}
        value={value}
        id={id}
        aria-describedby={`${id}-hint`}
        aria-invalid={excess === null ? undefined : true}
      />
      <span id={`${id}-hint`} className={excess === null ? 'label__hint' : 'label__wrong'}>
        {excess ?? hint}
      </span>
    </label>
  )
}

/** How much too long a text is for the server; null when it fits. */
export function describeExcess(text: string, charsMax: number): string | null {
  const excess = text.trim().length - charsMax
  if (excess <= 0) return null
  return `Too long by ${excess.toLocaleString('en')} ${excess === 1 ? 'character' : 'characters'}: at most ${charsMax.toLocaleString('en')}`
}

export interface Tab {
  readonly id: string
  readonly name: string
  readonly count?: number | undefined
  readonly content: ReactNode
}

interface TabsProps {
  readonly label: string
  readonly tabs: readonly Tab[]
  readonly value: string
  readonly onChange: (id: string) => void
}

/** Only the chosen tab is rendered. */
export function Tabs({ label, tabs, value, onChange }: TabsProps): ReactNode {
  return (
    <RadixTabs.Root value={value} onValueChange={onChange} activationMode="manual">
      <RadixTabs.List className="tabs" aria-label={label}>
        {tabs.map(({ id, name, count }) => (
          <RadixTabs.Trigger key={id} className="tab" value={id}>
            {name} {count === undefined ? null : <span className="n">{count}</span>}
          </RadixTabs.Trigger>
        ))}
      </RadixTabs.List>
      {tabs.map(({ id, content }) => (
        <RadixTabs.Content key={id} value={id} tabIndex={-1}>
          {content}
        </RadixTabs.Content>
      ))}
    </RadixTabs.Root>
  )
}

export interface MenuItem {
  readonly name: string
  readonly icon?: IconName
  /** What it will do. */
  readonly detail?: string
  readonly disabled?: boolean
  readonly onSelect: () => void
}

/** A button that opens a list of actions. */
export function Menu({
  trigger,
  items,
}: {
  readonly trigger: ReactNode
  readonly items: readonly MenuItem[]
}): ReactNode {
  return (
    <RadixMenu.Root modal={false}>
      <RadixMenu.Trigger asChild>{trigger}</RadixMenu.Trigger>
      <RadixMenu.Portal>
        <RadixMenu.Content className="menu" align="end" sideOffset={4}>
          {items.map(({ name, icon, detail, disabled, onSelect }) => (
            <RadixMenu.Item key={name} className="menu__item" disabled={disabled === true} onSelect={onSelect}>
              {icon === undefined ? null : <Icon name={icon} size={14} />}
              <span>
                {name}
                {detail === undefined ? null : <small>{detail}</small>}
              </span>
            </RadixMenu.Item>
          ))}
        </RadixMenu.Content>
      </RadixMenu.Portal>
    </RadixMenu.Root>
  )
}

/** A short explanation that appears on hover and focus. */
export function Tooltip({ text, children }: { readonly text: string; readonly children: ReactNode }): ReactNode {
  return (
    <RadixTooltip.Provider delayDuration={300}>
      <RadixTooltip.Root>
        <RadixTooltip.Trigger asChild>{children}</RadixTooltip.Trigger>
        <RadixTooltip.Portal>
          <RadixTooltip.Content className="tip" sideOffset={4}>
            {text}
          </RadixTooltip.Content>
        </RadixTooltip.Portal>
      </RadixTooltip.Root>
    </RadixTooltip.Provider>
  )
}
