import MarkdownIt, { type Token } from 'markdown-it'
import { createElement, type ReactNode, useMemo } from 'react'
import { cutText } from '../text/hidden-characters.js'
import { PlainText } from '../text/plain-text.js'

const CHARS_MAX = 100_000

// HTML stays text; links and images are shown as text with their address, so nothing here can be followed or loaded.
const parser = new MarkdownIt({ html: false, linkify: false, typographer: false })

const ELEMENTS = new Set('p,ul,ol,li,blockquote,table,thead,tbody,tr,th,td,strong,em,s'.split(','))
/** The page has its own first headings. */
const HEADINGS: Readonly<Record<string, string>> = { h1: 'h3', h2: 'h4', h3: 'h5', h4: 'h6', h5: 'h6', h6: 'h6' }

/** Markdown of plans and reports, without HTML, images and links. */
export function Markdown({ text }: { readonly text: string }) {
  const { text: shown, left } = cutText(text, CHARS_MAX)
  const content = useMemo(() => renderTokens(parser.parse(shown, {})), [shown])
  return (
    <div className="prose">
      {content}
      {left > 0 && <p className="text-cut">{left.toLocaleString('en')} more characters are not shown</p>}
    </div>
  )
}

interface Open {
  readonly token: Token | null
  readonly children: ReactNode[]
}

function renderTokens(tokens: readonly Token[]): ReactNode[] {
  const stack: Open[] = [{ token: null, children: [] }]
  for (const token of tokens) {
    if (token.nesting === 1) {
      stack.push({ token, children: [] })
      continue
    }
    if (token.nesting === -1) {
      if (stack.length === 1) continue
      const { token: opened, children } = stack.pop() as Open
      const into = (stack.at(-1) as Open).children
      into.push(opened === null ? children : renderElement(opened, children, into.length))
      continue
    }
    const { children } = stack.at(-1) as Open
    children.push(renderLeaf(token, children.length))
  }
  // What was never closed is still shown.
  return stack.flatMap(({ children }) => children)
}

function renderElement(token: Token, children: ReactNode[], key: number): ReactNode {
  if (token.type === 'link_open')
    return (
      <span key={key}>
        {children}{' '}
        <span className="prose-address">
          (<PlainText text={String(token.attrGet('href') ?? '')} charsMax={500} />)
        </span>
      </span>
    )
  if (token.type === 'paragraph_open' && token.hidden) return <span key={key}>{children}</span>
  const tag = HEADINGS[token.tag] ?? (ELEMENTS.has(token.tag) ? token.tag : 'span')
  const start = token.tag === 'ol' ? Number(token.attrGet('start') ?? 1) : undefined
  return createElement(tag, { key, ...(start === undefined || Number.isNaN(start) ? {} : { start }) }, ...children)
}

function renderLeaf(token: Token, key: number): ReactNode {
  switch (token.type) {
    case 'inline':
      return <span key={key}>{renderTokens(token.children ?? [])}</span>
    case 'softbreak':
      return '\n'
    case 'hardbreak':
      return <br key={key} />
    case 'hr':
      return <hr key={key} />
    case 'code_inline':
      return (
        <code className="in" key={key}>
          <PlainText text={token.content} />
        </code>
      )
    case 'fence':
    case 'code_block':
      return (
        <pre className="raw" key={key}>
          <PlainText text={token.content.replace(/\n$/, '')} />
        </pre>
      )
    case 'image':
      return (
        <span className="prose-address" key={key}>
          [image: <PlainText text={`${token.content} ${String(token.attrGet('src') ?? '')}`} charsMax={500} />]
        </span>
      )
    default:
      return <PlainText text={token.content} key={key} />
  }
}
