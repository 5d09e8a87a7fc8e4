import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { confirmAct } from '../../api/confirm-act.js'
import { keys } from '../../api/keys.js'
import { useAct, useRead } from '../../api/use-api.js'
import { Page } from '../../app/page.js'
import { Button } from '../../ui/button.js'
import { Tabs } from '../../ui/controls.js'
import { Badge } from '../../ui/marks.js'
import { ScrollBox } from '../../ui/scroll-box.js'
import { ActionProblem, EmptyState, Loaded, Note } from '../../ui/states.js'
import { Time } from '../../ui/time.js'
import { type ContractRow, describeOrigin, shortenHash } from './contract-answers.js'
import { ContractDifference } from './contract-difference.js'
import { ContractPicture } from './contract-picture.js'
import { ContractText } from './contract-text.js'
import type { ContractGraph } from './graph-layout.js'
import './contracts.css'

/** One version of a contract: its phases and gates with what is in them now, its text, and what differs from another. */
export function ContractPage(): ReactNode {
  const { hash = '' } = useParams({ strict: false })
  const query = useRead<{ readonly contracts: readonly ContractRow[] }>(keys.contracts, '/contracts')
  const contract = query.data?.contracts.find((one) => one.hash === hash)
  const title = contract === undefined ? 'Contract' : `${contract.name} ${contract.version}`
  return (
    <Page title={title} crumbs={[{ name: 'Contracts', to: '/contracts' }]}>
      <Loaded what="The contract" query={query} rows={5}>
        {({ contracts }) =>
          contract === undefined ? (
            <EmptyState icon="contract" title="This server does not know this contract">
              Its hash is {shortenHash(hash)}. <Link to="/contracts">See all contracts</Link>.
            </EmptyState>
          ) : (
            <OneContract contract={contract} contracts={contracts} />
          )
        }
      </Loaded>
    </Page>
  )
}

interface Parts {
  readonly contract: ContractRow
  readonly contracts: readonly ContractRow[]
}

function OneContract({ contract, contracts }: Parts): ReactNode {
  const search = useSearch({ strict: false }) as { readonly tab?: unknown; readonly to?: unknown }
  const navigate = useNavigate()
  const tab = search.tab === 'text' || search.tab === 'difference' ? search.tab : 'graph'
  const other = typeof search.to === 'string' ? search.to : ''
  const go = (next: { readonly tab: string; readonly to?: string }): void =>
    void navigate({ to: '/contracts/$hash', params: { hash: contract.hash }, search: next as never, replace: true })
  return (
    <>
      <div className="con-about">
        {contract.default ? <Badge tone="running">default for new tasks</Badge> : null}
        <div className="meta">
          <span className="mono">{shortenHash(contract.hash)}</span>
          <span>{describeOrigin(contract.origin)}</span>
          <span>
            known since <Time at={contract.registered_at} />
          </span>
        </div>
      </div>
      {contract.trusted ? null : <TrustContract contract={contract} />}
      <Tabs
        label="Parts of the contract"
        value={tab}
        onChange={(id) => go({ tab: id, ...(id === 'difference' && other !== '' ? { to: other } : {}) })}
        tabs={[
          { id: 'graph', name: 'Graph', content: <Graph contract={contract} /> },
          { id: 'text', name: 'Text', content: <ContractText hash={contract.hash} /> },
          {
            id: 'difference',
            name: 'Difference',
            content: (
              <ContractDifference
                contract={contract}
                contracts={contracts}
                other={other}
                onChange={(to) => go({ tab: 'difference', to })}
              />
            ),
          },
        ]}
      />
    </>
  )
}

function Graph({ contract }: { readonly contract: ContractRow }): ReactNode {
  // Under the key of tasks, so that the counts move with them.
  const query = useRead<ContractGraph>(['tasks', 'graph', contract.hash], '/contracts/{hash}/graph', {
    path: { hash: contract.hash },
  })
  return (
    <Loaded what="The graph" query={query} rows={5}>
      {(graph) => (
        <ScrollBox className="con-scroll panel" label="Phases and gates">
          <ContractPicture graph={graph} name={`${contract.name} ${contract.version}`} />
        </ScrollBox>
      )}
    </Loaded>
  )
}

function TrustContract({ contract }: { readonly contract: ContractRow }): ReactNode {
  const trust = useAct(
    () =>
      confirmAct({ act: 'trustContract', path: '/contracts/{hash}/trust', params: { hash: contract.hash }, body: {} }),
    [keys.contracts, keys.inbox],
  )
  return (
    <div className="stack con-trust">
      <Note
        tone="pending"
        icon="warn"
        title="Nobody has trusted this contract"
        actions={
          <Button busy={trust.isPending} onClick={() => trust.mutate(undefined)}>
            Trust it
          </Button>
        }
      >
        It came {describeOrigin(contract.origin)}. Read its text first: what you trust decides which commands run, which
        gates exist and who approves.
      </Note>
      <ActionProblem error={trust.error} />
    </div>
  )
}
