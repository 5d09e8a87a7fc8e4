import { describe } from 'vitest'
import type { ProviderName } from '../../src/confinement/confinement.js'
import { findProgram } from '../../src/confinement/probes.js'

const HAS_BUBBLEWRAP = findProgram('bwrap') !== null

/** Bubblewrap is a package of its own. `npm test` installs it where it may. */
export function isHere(provider: ProviderName): boolean {
  return HAS_BUBBLEWRAP || !provider.includes('bubblewrap')
}

/** Tests for each provider. Those of a provider that this machine lacks are skipped by name. */
export function describeProviders<Name extends ProviderName>(
  providers: readonly Name[],
  nameTests: (provider: Name) => string,
  test: (provider: Name) => void,
): void {
  for (const provider of providers) describe.skipIf(!isHere(provider))(nameTests(provider), () => test(provider))
}
