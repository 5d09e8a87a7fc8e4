import { recordOffline } from '../../app/ledger/record-offline.js'
import { moveToPostgres, moveToSqlite } from '../../store/copy/move-ledger.js'
import { hidePassword } from '../../store/moved-ledger.js'
import { findAddressProblem } from '../../store/postgres/connect.js'
import { findLedgerStateDir } from '../client/ledger-place.js'
import { EXIT, Stop } from '../exit.js'
import { mustConfirm, print, printJson, tell } from '../terminal/terminal.js'
import { showProgress } from '../trial/progress.js'
import { runOnStore } from './refused-store.js'

export interface MoveOptions {
  readonly to: string
  readonly from?: string
  readonly stateDir?: string
  readonly yes?: boolean
  readonly json?: boolean
}

/** Moves the ledger of a stopped server to another store. */
export async function moveCommand(options: MoveOptions): Promise<void> {
  const dir = findLedgerStateDir(options.stateDir)
  if (dir === null)
    throw new Stop(EXIT.refused, 'There is no ledger here. Name its state directory with --state-dir DIR.')
  const isBack = options.to === 'sqlite'
  if (!isBack && options.from !== undefined) throw new Stop(EXIT.usage, '--from is for --to sqlite.')
  const url = requireAddress(isBack ? options.from : options.to)
  const to = isBack ? dir : hidePassword(url)
  if (options.yes !== true)
    await mustConfirm(`Move the ledger in ${isBack ? hidePassword(url) : dir} to ${to}?`, {
      unasked: 'Nobody can be asked here: give --yes.',
      no: 'Nothing was moved.',
    })
  const summary = await runOnStore('The move', () =>
    showProgress('Verifying and copying', options.json === true, async () => {
      const moved = await (isBack ? moveToSqlite({ dir, url }) : moveToPostgres({ dir, url }))
      await recordOffline({ dir, url: isBack ? null : url }, [
        { type: 'ledger_moved', to: isBack ? 'sqlite' : to, events: moved.head.count },
      ])
      return moved
    }),
  )
  const { head, streams } = summary
  if (options.json === true) return printJson({ to, events: head.count, streams, state_dir: dir })
  print(`Moved ${head.count} events in ${streams} streams to ${to}. Both were verified.`)
  tell(
    isBack
      ? 'Start the server without --store and PHASELOCK_STORE. The database refuses other servers; drop it when you like.'
      : `Start the server with PHASELOCK_STORE and ORCHESTRATOR_JWT_SECRET (the first line of ${dir}/signing.secret keeps tokens valid).\nThe keys stay in ${dir}; ledger.db.moved there is the old database: remove it when you like.`,
  )
}

function requireAddress(given: string | undefined): string {
  const url = given === undefined || given === '-' ? (process.env.PHASELOCK_STORE ?? '') : given
  const problem = findAddressProblem(url)
  if (problem !== null) throw new Stop(EXIT.usage, `--to, --from, PHASELOCK_STORE: ${problem}`)
  return url
}
