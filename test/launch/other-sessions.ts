import { GEMINI_VERSION, gemini, OPENCODE_VERSION, opencode } from '../participants/real-agents.js'
import { CODE, own } from '../real-agents/work.js'

/** Agent CLIs without forms in their chat: people decide elsewhere. `lightCommand` takes less processor time. */
export const OTHER_CLIS = [
  {
    ...{ name: 'gemini', title: `Gemini CLI ${GEMINI_VERSION}`, found: gemini() },
    command: (words: string) => `phaselock gemini ${words} -- --model scripted-1`,
    // It starts itself a second time otherwise.
    lightCommand: (words: string) => `GEMINI_CLI_NO_RELAUNCH=true phaselock gemini ${words} -- --model scripted-1`,
    ...{
      rules: ['GEMINI-RULES', 'AGENTS-RULES'],
      tool: /^mcp_phaselock_/,
      leave: '/quit',
      running: 'gemini.*--admin-policy',
    },
    cheats: (tree: string) => [
      own('write_file', { file_path: `${tree}/${CODE}`, content: 'x' }),
      own('run_shell_command', { command: `touch ${tree}/${CODE}` }),
    ],
  },
  {
    ...{ name: 'opencode', title: `OpenCode ${OPENCODE_VERSION}`, found: opencode() },
    command: (words: string) => `phaselock opencode ${words}`,
    lightCommand: (words: string) => `phaselock opencode ${words} -- --mini`,
    ...{ rules: ['AGENTS-RULES'], tool: /^phaselock_/, leave: '/exit', running: 'opencode.*--pure' },
    cheats: (tree: string) => [
      own('write', { filePath: `${tree}/${CODE}`, content: 'x' }),
      own('bash', { command: `touch ${tree}/${CODE}`, description: 'x' }),
    ],
  },
]
