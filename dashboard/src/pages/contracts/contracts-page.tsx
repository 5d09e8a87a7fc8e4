import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { keys } from '../../api/keys.js'
import { useRead } from '../../api/use-api.js'
import { Page } from '../../app/page.js'
import { Panel } from '../../ui/layout-parts.js'
import { Badge } from '../../ui/marks.js'
import { EmptyState, Loaded } from '../../ui/states.js'
import { Time } from '../../ui/time.js'
import { type ContractFamily, type ContractRow, describeOrigin, groupByName, shortenHash } from './contract-answers.js'
import './contracts.css'

/** The contracts that tasks can be created under, by name and version. */
export function ContractsPage(): ReactNode {
  const query = useRead<{ readonly contracts: readonly ContractRow[] }>(keys.contracts, '/contracts')
  return (
    <Page title="Contracts">
      <Loaded what="The list of contracts" query={query} rows={4}>
        {({ contracts }) =>
          contracts.length === 0 ? (
            <EmptyState icon="contract" title="No contract is known">
              Start the server with one: <code>phaselock serve --contract agent_workflow.yaml</code>
            </EmptyState>
          ) : (
            <div className="stack">
              {groupByName(contracts).map((family) => (
                <Family key={family.name} family={family} />
              ))}
            </div>
          )
        }
      </Loaded>
    </Page>
  )
}

function Family({ family }: { readonly family: ContractFamily }): ReactNode {
  const [newest, before] = family.versions
  return (
    <Panel
      title={family.name}
      flush
      {...(newest === undefined || before === undefined
        ? {}
        : {
            end: (
              <Link
                to="/contracts/$hash"
                params={{ hash: newest.hash }}
                search={{ tab: 'difference', to: before.hash } as never}
                className="link"
              >
                What changed last
              </Link>
            ),
          })}
    >
      <ul className="con-versions">
        {family.versions.map((contract) => (
          <li key={contract.hash}>
            <Link to="/contracts/$hash" params={{ hash: contract.hash }} className="open-link">
              Version {contract.version}
            </Link>
            <span className="mono muted">{shortenHash(contract.hash)}</span>
            <span className="con-marks">
              {contract.default ? <Badge tone="running">default for new tasks</Badge> : null}
              {contract.trusted ? null : (
                <Badge tone="pending" icon="warn">
                  not trusted
                </Badge>
              )}
            </span>
            <span className="muted con-from" title={contract.origin}>
              {describeOrigin(contract.origin)}
            </span>
            <span className="muted">
              <Time at={contract.registered_at} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
