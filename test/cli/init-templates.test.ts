import { describe, expect, it } from 'vitest'
import { buildContract } from '../../src/cli/init/contract-text.js'
import type { FoundTests } from '../../src/cli/init/found-tests.js'
import { BUNDLED_CONTRACTS, isDocuments } from '../../src/contract/bundled-contracts.js'
import { loadContractText } from '../../src/contract/load/load-contract.js'
import type { Contract } from '../../src/core/contract/contract.js'

const FOUND: FoundTests = {
  ...{ project: 'carts', language: 'JavaScript', command: 'npx jest --verbose', timeoutSeconds: 90 },
  ...{ patterns: ['spec/**'], mayWrite: [], preset: null, coverage: { run: 'npm run cov', report: null } },
  steps: [{ name: 'lint', run: 'npm run lint' }],
}
type Template = Parameters<typeof buildContract>[1]
const TEMPLATES = BUNDLED_CONTRACTS.filter((name): name is Template => !isDocuments(name))

async function load(template: Template, found: FoundTests = FOUND): Promise<Contract> {
  const loaded = await loadContractText(buildContract(found, template), { file: 'agent_workflow.yaml', baseDir: null })
  expect(loaded, JSON.stringify(loaded)).toMatchObject({ ok: true, warnings: [] })
  if (!loaded.ok) throw new Error('it does not load')
  return loaded.contract
}

const listChecks = (contract: Contract): readonly string[] =>
  [...contract.phases.values()].flatMap(({ gates }) =>
    gates.flatMap(({ blockers }) => blockers.map(({ check }) => check)),
  )

describe('contracts that init writes', () => {
  it.each(TEMPLATES)(
    '[REQ-WORKFLOW-5] %s loads without a warning and has the commands of the repository',
    async (name) => {
      const contract = await load(name)
      const tests = contract.commands.get('tests')
      if (tests === undefined) {
        expect(listChecks(contract)).not.toContain('tests_not_worse')
        return
      }
      expect(tests).toMatchObject({ run: 'npx jest --verbose', timeoutSeconds: 90 })
      expect(contract.tests.patterns).toEqual(['spec/**'])
      for (const phase of contract.phases.values()) {
        const limits = phase.constraints.get('write_files')
        expect([...(limits?.allowedPatterns ?? []), ...(limits?.forbiddenPatterns ?? [])], phase.id).not.toContain(
          '**/*.test.*',
        )
        if (phase.allowedTools.includes('run_tests') && !phase.forbiddenTools.includes('run_tests'))
          expect(phase.prompt).toContain('The tests are run with: npx jest --verbose')
      }
      expect(listChecks(contract)).toContain('command_succeeds')
    },
  )

  it.each(TEMPLATES)('[REQ-WORKFLOW-5] the report of %s on its own work opens no gate', async (name) => {
    for (const { id, requiredArtifacts, reviewBy } of (await load(name)).phases.values())
      if (requiredArtifacts.some(({ type }) => type === 'review_report')) expect(reviewBy, id).toBe('other')
  })

  it('[REQ-WORKFLOW-5] refactor asks for coverage where a command for it is known, and nowhere else', async () => {
    const without = await load('refactor', { ...FOUND, coverage: null })
    expect([listChecks(without).includes('coverage_not_lower'), without.commands.has('coverage')]).toEqual([
      false,
      false,
    ])
    const contract = await load('refactor')
    expect(listChecks(contract).filter((check) => check === 'coverage_not_lower')).toHaveLength(2)
    expect(contract.commands.get('coverage')).toMatchObject({ run: 'npm run cov', format: 'lcov', report: null })
  })

  it.each(TEMPLATES)(
    '[REQ-INIT-8] %s lets only what runs the tests send SIGUSR1, and only where allowed',
    async (name) => {
      const list = ({ commands }: Contract): readonly string[] =>
        [...commands].filter(([, { allowsSigusr1 }]) => allowsSigusr1 === true).map(([command]) => command)
      expect(list(await load(name))).toEqual([])
      const contract = await load(name, { ...FOUND, allowsSigusr1: true })
      expect([...list(contract)].sort()).toEqual(
        ['coverage', 'tests'].filter((command) => contract.commands.has(command)),
      )
    },
  )

  it('[REQ-WORKFLOW-5] release keeps its own rule for failures from before the task', async () => {
    expect((await load('release')).tests.baseline).toBe('forbid')
  })
})
