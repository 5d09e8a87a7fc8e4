interface Tool {
  readonly name: string
  readonly description: string
  readonly schema: object
  readonly oneOf?: readonly string[]
}

/** The content of `sdk/typescript/src/api.ts`, and `more` types of the document. */
export function renderTypeScript(document: object, tools: readonly Tool[], more?: readonly string[]): string

/** The content of `python/src/orchestrator_agent_sdk/types.py`. */
export function renderPython(document: object, tools: readonly Tool[]): string

/** The content of `python/src/orchestrator_agent_sdk/_tools.py`. */
export function renderPythonTools(tools: readonly Tool[]): string
