// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the scripts expand them, not we.
import { type Command, Option } from 'commander'
import type { CliCommand } from '../cli-command.js'
import { EXIT, Stop } from '../exit.js'
import { print } from '../terminal/terminal.js'

const SHELLS = { bash: buildBashScript, zsh: buildZshScript, fish: buildFishScript } as const

/** `phaselock completion SHELL` prints a script generated from the commands. */
export function addCompletionCommand(program: CliCommand): void {
  program
    .command('completion')
    .argument('<shell>', 'bash, zsh or fish')
    .description('print a completion script for your shell')
    .examples(
      ['source <(phaselock completion bash)', 'in ~/.bashrc'],
      'phaselock completion zsh > "${fpath[1]}/_phaselock"',
      'phaselock completion fish > ~/.config/fish/completions/phaselock.fish',
    )
    .action((shell: string) => {
      if (!(shell in SHELLS))
        throw new Stop(EXIT.usage, `There is no completion for '${shell}'. Use bash, zsh or fish.`)
      print(SHELLS[shell as keyof typeof SHELLS](listNodes(program, [])))
    })
}

/** A command with what may follow it. */
interface Node {
  /** The words that lead here, after the program's name. */
  readonly path: readonly string[]
  readonly words: readonly { readonly word: string; readonly text: string; readonly isCommand: boolean }[]
}

function listNodes(command: Command, path: readonly string[]): readonly Node[] {
  const commands = command.commands.map((one) => ({ word: one.name(), text: one.description(), isCommand: true }))
  const options = [...command.options, new Option('--help', 'print the help')].flatMap((option) =>
    option.long === undefined || option.long === null
      ? []
      : [{ word: option.long, text: option.description, isCommand: false }],
  )
  return [
    { path, words: [...commands, ...options] },
    ...command.commands.flatMap((one) => listNodes(one, [...path, one.name()])),
  ]
}

function buildBashScript(nodes: readonly Node[]): string {
  return [
    '# bash completion for phaselock',
    '_phaselock() {',
    '  local current="${COMP_WORDS[COMP_CWORD]}" path="" i',
    '  for ((i = 1; i < COMP_CWORD; i++)); do',
    '    case "$path ${COMP_WORDS[i]}" in',
    `      ${formatKnownPaths(nodes)}) path="$path \${COMP_WORDS[i]}" ;;`,
    '    esac',
    '  done',
    '  local words=""',
    '  case "$path" in',
    ...nodes.map(
      (node) => `    "${formatPath(node.path)}") words="${node.words.map(({ word }) => word).join(' ')}" ;;`,
    ),
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '  if [ "${#COMPREPLY[@]}" -eq 0 ]; then COMPREPLY=($(compgen -f -- "$current")); fi',
    '}',
    'complete -F _phaselock phaselock',
  ].join('\n')
}

function buildZshScript(nodes: readonly Node[]): string {
  return [
    '#compdef phaselock',
    '_phaselock() {',
    '  local place="" i',
    '  local -a entries',
    '  for ((i = 2; i < CURRENT; i++)); do',
    '    case "$place ${words[i]}" in',
    `      ${formatKnownPaths(nodes)}) place="$place \${words[i]}" ;;`,
    '    esac',
    '  done',
    '  case "$place" in',
    ...nodes.map(
      (node) =>
        `    "${formatPath(node.path)}") entries=(${node.words.map(({ word, text }) => quoteText(`${word}:${text.replaceAll(':', '\\:')}`)).join(' ')}) ;;`,
    ),
    '  esac',
    "  _describe 'phaselock' entries || _files",
    '}',
    'if [ "$funcstack[1]" = "_phaselock" ]; then _phaselock "$@"; else compdef _phaselock phaselock; fi',
  ].join('\n')
}

function buildFishScript(nodes: readonly Node[]): string {
  const lines = nodes.flatMap((node) => {
    const seen = node.path.map((word) => `__fish_seen_subcommand_from ${word}`)
    const next = node.words.filter((one) => one.isCommand).map(({ word }) => word)
    const condition = [...seen, ...(next.length === 0 ? [] : [`not __fish_seen_subcommand_from ${next.join(' ')}`])]
    return node.words.map(({ word, text, isCommand }) => {
      const what = isCommand ? `-f -a ${word}` : `-l ${word.slice(2)}`
      const when = isCommand || node.path.length > 0 ? ` -n ${quoteText(condition.join('; and ') || 'true')}` : ''
      return `complete -c phaselock${when} ${what} -d ${quoteText(text)}`
    })
  })
  return ['# fish completion for phaselock', ...lines].join('\n')
}

function formatKnownPaths(nodes: readonly Node[]): string {
  return nodes
    .filter((node) => node.path.length > 0)
    .map((node) => `"${formatPath(node.path)}"`)
    .join(' | ')
}

function formatPath(path: readonly string[]): string {
  return path.map((word) => ` ${word}`).join('')
}

function quoteText(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
