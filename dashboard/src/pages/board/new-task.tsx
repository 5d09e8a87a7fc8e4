import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { confirmAct } from '../../api/confirm-act.js'
import { keys } from '../../api/keys.js'
import { useAct } from '../../api/use-api.js'
import { Button } from '../../ui/button.js'
import { Field, Pick, TextArea, Tick } from '../../ui/controls.js'
import { Dialog } from '../../ui/dialog.js'
import { ActionProblem } from '../../ui/states.js'
import { type ContractRow, useContracts } from './board-data.js'

const DESCRIPTION_CHARS_MAX = 10_000

/** Creates a task; agents can claim it at once. */
export function NewTask({ onClose }: { readonly onClose: () => void }): ReactNode {
  const navigate = useNavigate()
  const contracts = useContracts().data?.contracts ?? []
  const [title, setTitle] = useState('')
  const [description, setDescription] = useState('')
  const [contract, setContract] = useState('')
  const [isSeparate, setSeparate] = useState(false)
  const act = useAct(
    () =>
      confirmAct<{ readonly id: string }>({
        act: 'createTask',
        path: '/tasks',
        body: {
          title: title.trim(),
          ...(description.trim() === '' ? {} : { description: description.trim() }),
          ...(contract === '' ? {} : { contract }),
          ...(isSeparate ? { worktree: true } : {}),
        },
      }),
    [keys.tasks()],
  )
  return (
    <Dialog
      title="New task"
      onClose={onClose}
      onSubmit={() =>
        act.mutate(undefined, {
          onSuccess: ({ id }) => {
            onClose()
            void navigate({ to: '/tasks/$id', params: { id } })
          },
        })
      }
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={act.isPending} disabled={title.trim() === ''}>
            Create
          </Button>
        </>
      }
    >
      <Field
        label="Title"
        required
        maxLength={200}
        value={title}
        onChange={(event) => setTitle(event.target.value)}
        hint="What has to be true when it is done"
      />
      <TextArea
        label="Description"
        rows={5}
        charsMax={DESCRIPTION_CHARS_MAX}
        value={description}
        onChange={(event) => setDescription(event.target.value)}
        hint="The agent gets it as it is"
      />
      <div className="acts">
        <Pick label="Contract" value={contract} onChange={setContract} options={listChoices(contracts)} />
        <Tick checked={isSeparate} onChange={setSeparate}>
          In a separate work tree
        </Tick>
      </div>
      <ActionProblem error={act.error} />
    </Dialog>
  )
}

function listChoices(contracts: readonly ContractRow[]) {
  const standard = contracts.find((contract) => contract.default)
  const others = contracts.filter((contract) => !contract.default)
  return [
    { value: '', name: standard === undefined ? 'the server’s' : `${standard.name} ${standard.version}` },
    ...others.map(({ hash, name, version }) => ({ value: hash, name: `${name} ${version} (${hash.slice(0, 6)})` })),
  ]
}
