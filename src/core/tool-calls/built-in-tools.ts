/** The shape of one argument of a built-in tool. */
export type ArgShape = 'string' | 'integer' | 'boolean' | 'strings' | 'edits' | 'files'

export interface ToolSpec {
  readonly name: string
  readonly description: string
  /** Argument name to shape; a name that ends in `?` is optional. Unknown arguments are refused. */
  readonly args: Readonly<Record<string, ArgShape>>
  /** Exactly one of these must be given (`path` or `paths`). */
  readonly oneOf?: readonly string[]
  /** What `tool_constraints` patterns are matched against. */
  readonly paths: 'none' | 'read' | 'write'
  /** `edit_files` inherits the constraints of `write_files` unless it has its own. */
  readonly inherits?: string
}

/** The built-in tools, by name. Names are compared exactly. */
export const BUILT_IN_TOOLS: ReadonlyMap<string, ToolSpec> = new Map(
  (
    [
      {
        name: 'read_files',
        description: 'Read one or more files of the work tree. offset and limit count lines.',
        args: { 'path?': 'string', 'paths?': 'strings', 'offset?': 'integer', 'limit?': 'integer' },
        oneOf: ['path', 'paths'],
        paths: 'read',
      },
      {
        name: 'write_files',
        description: 'Create, replace or append to one or more files.',
        args: { 'path?': 'string', 'content?': 'string', 'mode?': 'string', 'files?': 'files' },
        oneOf: ['path', 'files'],
        paths: 'write',
      },
      {
        name: 'edit_files',
        description: 'Replace exact text in a file.',
        args: { path: 'string', edits: 'edits' },
        paths: 'write',
        inherits: 'write_files',
      },
      {
        name: 'glob',
        description: 'List files by pattern.',
        args: { pattern: 'string', 'path?': 'string', 'limit?': 'integer' },
        paths: 'read',
      },
      {
        name: 'grep',
        description: 'Search file contents by regular expression.',
        args: {
          pattern: 'string',
          'path?': 'string',
          'glob?': 'string',
          'ignore_case?': 'boolean',
          'limit?': 'integer',
        },
        paths: 'read',
      },
      {
        name: 'search_codebase',
        description: 'Find ranked snippets for a question.',
        args: { query: 'string', 'path?': 'string', 'limit?': 'integer' },
        paths: 'read',
      },
      {
        name: 'bash',
        description: 'Run a shell command in the sandbox.',
        args: { command: 'string', 'timeout?': 'integer', 'cwd?': 'string' },
        paths: 'none',
      },
      {
        name: 'run_tests',
        description: "Run the contract's test command. filter: the name of a test, or a file or package.",
        args: { 'filter?': 'string' },
        paths: 'none',
      },
      { name: 'git_status', description: 'Show the state of the work tree.', args: {}, paths: 'none' },
      {
        name: 'git_diff',
        description: 'Show changes, new files too.',
        args: { 'paths?': 'strings', 'staged?': 'boolean' },
        paths: 'read',
      },
      { name: 'git_log', description: 'Show commits.', args: { 'limit?': 'integer' }, paths: 'none' },
      {
        name: 'git_commit',
        description: 'Commit what this task changed, and nothing else. paths limits it to some of these files.',
        args: { message: 'string', 'paths?': 'strings' },
        paths: 'none',
      },
      {
        name: 'ask_user_question',
        description: 'Ask the operator a question.',
        args: { question: 'string', 'options?': 'strings' },
        paths: 'none',
      },
      {
        name: 'request_setup_change',
        description: 'Ask a person to accept changed test setup (configuration, scripts, compiler options) after RED.',
        args: { paths: 'strings', reason: 'string' },
        paths: 'none',
      },
      {
        name: 'request_dependency',
        description:
          'Ask a person to let a package manager install dependencies, with network: {"command": ["npm", "install", "zod"], "reason": "…"}. Call it again with the same arguments once it was approved.',
        args: { command: 'strings', reason: 'string', 'cwd?': 'string' },
        paths: 'none',
      },
      { name: 'web_fetch', description: 'Fetch a page from an allowed host.', args: { url: 'string' }, paths: 'none' },
    ] satisfies ToolSpec[]
  ).map((tool) => [tool.name, tool]),
)

/** Tools that only an agent CLI has (its hooks name them); a contract may list them. */
export const HARNESS_TOOLS: ReadonlySet<string> = new Set(['spawn_agent', 'web_search'])
