import type { CliCommand } from '../cli-command.js'
import type { ArchiveOptions } from '../keeping/archive.js'
import type { BackupOptions } from '../keeping/backup.js'
import type { EraseOptions } from '../keeping/erase.js'
import type { MoveOptions } from '../keeping/move.js'
import type { RestoreOptions } from '../keeping/restore.js'
import { parseDays } from '../options.js'

const STATE_DIR = 'state directory with the ledger ($PHASELOCK_STATE_DIR; default: that of this work tree)'

/** `phaselock backup`, `restore`, `move`, `erase`, `archive` */
export function addKeepingCommands(program: CliCommand): void {
  program
    .command('backup')
    .description('write the ledger and its checkpoints to one signed file; the server can keep running')
    .option('--to <file>', 'new file (default: below $XDG_DATA_HOME/phaselock/backups)')
    .option('--with-keys', 'put the private keys into the file, readable')
    .option('--encrypt-keys', 'put the private keys into the file, encrypted with a passphrase')
    .option('--passphrase-file <file>', 'file with that passphrase in its first line')
    .option('--state-dir <dir>', STATE_DIR)
    .option('--store <url>', 'PostgreSQL database with the ledger ($PHASELOCK_STORE)')
    .option('--json', 'print JSON')
    .examples(
      ['phaselock backup --to /backup/shop.backup', 'without the private keys: keep those apart'],
      ['phaselock backup --to shop.backup --passphrase-file ~/.backup-passphrase', 'everything in one file'],
    )
    .action(async (options: BackupOptions) => (await import('../keeping/backup.js')).backupCommand(options))
  program
    .command('restore <file>')
    .description('make a new state directory from a backup, if it verifies')
    .option('--state-dir <dir>', 'the new state directory: it must not exist, or be empty ($PHASELOCK_STATE_DIR)')
    .option('--keys <dir>', 'folder with ledger.key and ledger.ed25519, for a backup without keys')
    .option('--passphrase-file <file>', 'file with the passphrase of encrypted keys in its first line')
    .option('--public-key <file>', 'the key that must have signed the backup (ledger.ed25519.pub)')
    .option('--json', 'print JSON')
    .examples(
      ['phaselock restore shop.backup --state-dir /srv/phaselock --keys /safe/keys', ''],
      ['phaselock restore shop.backup --state-dir /srv/lock --public-key ledger.pub', 'and no other key'],
    )
    .action(async (file: string, options: RestoreOptions) =>
      (await import('../keeping/restore.js')).restoreCommand(file, options),
    )
  program
    .command('move')
    .description('move the ledger of a stopped server to PostgreSQL, or back, with its chains')
    .requiredOption('--to <store>', 'postgres://user@host/database (empty), $PHASELOCK_STORE for -, or sqlite')
    .option('--from <url>', 'with --to sqlite: the PostgreSQL database ($PHASELOCK_STORE)')
    .option('--state-dir <dir>', STATE_DIR)
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON')
    .examples(
      ['phaselock move --to postgres://phaselock@db.example/phaselock', 'verified before and after'],
      ['PHASELOCK_STORE=postgres://… phaselock move --to - --yes', 'keeps the password out of the arguments'],
      ['PHASELOCK_STORE=postgres://… phaselock move --to sqlite', 'back into the state directory'],
    )
    .action(async (options: MoveOptions) => (await import('../keeping/move.js')).moveCommand(options))
  program
    .command('erase')
    .description('erase a leaked secret or personal data from the ledger of a stopped server')
    .requiredOption('--text-file <file>', 'file with the text to erase in its first line; - is standard input')
    .requiredOption('--reason <text>', 'why; kept in the ledger')
    .option('--state-dir <dir>', STATE_DIR)
    .option('--store <url>', 'PostgreSQL database with the ledger ($PHASELOCK_STORE)')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON')
    .examples([
      'phaselock erase --text-file leaked.txt --reason "key of the mail service"',
      'the chains stay verifiable',
    ])
    .action(async (options: EraseOptions) => (await import('../keeping/erase.js')).eraseCommand(options))
  program
    .command('archive')
    .description('move tasks that ended long ago from the ledger of a stopped server to a signed file')
    .requiredOption('--older-than <days>', 'tasks that were completed or cancelled so many days ago', parseDays)
    .requiredOption('--to <dir>', 'folder for the file')
    .option('--reason <text>', 'why; kept in the ledger', 'retention')
    .option('--state-dir <dir>', STATE_DIR)
    .option('--store <url>', 'PostgreSQL database with the ledger ($PHASELOCK_STORE)')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON')
    .examples(['phaselock archive --older-than 365 --to /archive/phaselock', 'the chains stay verifiable'])
    .action(async (options: ArchiveOptions) => (await import('../keeping/archive.js')).archiveCommand(options))
}
