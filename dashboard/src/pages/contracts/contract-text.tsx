import type { ReactNode } from 'react'
import { keys } from '../../api/keys.js'
import { useRead } from '../../api/use-api.js'
import { Panel } from '../../ui/layout-parts.js'
import { Loaded } from '../../ui/states.js'
import { PlainText } from '../../ui/text/plain-text.js'
import { describeOrigin } from './contract-answers.js'

export interface ContractTextAnswer {
  readonly hash: string
  readonly text: string
  readonly origin: string
}

/** Reads the text of a contract; empty hashes are not asked for. */
export function useContractText(hash: string) {
  return useRead<ContractTextAnswer>(keys.contract(hash, 'text'), '/contracts/{hash}/text', {
    path: { hash },
    enabled: hash !== '',
  })
}

const LINES_MAX = 10_000
const LINE_CHARS_MAX = 4000

/** The contract as it is written, with line numbers. */
export function ContractText({ hash }: { readonly hash: string }): ReactNode {
  const query = useContractText(hash)
  return (
    <Loaded what="The text" query={query} rows={8}>
      {({ text, origin }) => {
        const lines = text.replace(/\n$/, '').split('\n')
        return (
          <Panel title="Text" sub={`${describeOrigin(origin)}, ${lines.length} lines`} flush>
            <div className="con-text">
              {lines.slice(0, LINES_MAX).map((line, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a line has no identity but its number
                <div key={index} className="con-text-line">
                  <span>{index + 1}</span>
                  <span>
                    <PlainText text={line} charsMax={LINE_CHARS_MAX} />
                  </span>
                </div>
              ))}
            </div>
            {lines.length <= LINES_MAX ? null : <p className="con-cut">{lines.length - LINES_MAX} more lines</p>}
          </Panel>
        )
      }}
    </Loaded>
  )
}
