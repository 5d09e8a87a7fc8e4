import { expect } from 'vitest'
import { formatText } from '../../src/contract/format-diagnostics.js'
import type { LoadedContract } from '../../src/contract/load/load-contract.js'
import { loadContractText } from '../../src/contract/load/load-contract.js'

/** Loads a contract that must load; shows its diagnostics when it does not. */
export async function mustLoad(text: string, baseDir: string | null = null): Promise<LoadedContract> {
  const result = await loadContractText(text, { file: 'agent_workflow.yaml', baseDir })
  if (!result.ok) expect.fail(formatText(result.diagnostics))
  return result
}

export const HEAD = 'name: t\nversion: "1"\n'
