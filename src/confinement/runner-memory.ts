import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { release } from 'node:os'
import { packagePath } from '../base/package-root.js'

/** The program that sets up Landlock for observed runs. */
export const PERL = '/usr/bin/perl'
const ENTER = packagePath('runtime/test-guards/enter/run')
const PTRACE_SCOPE = '/proc/sys/kernel/yama/ptrace_scope'
const TRY_MS_MAX = 5000

export interface MemoryFacts {
  readonly kernel: string
  readonly hasPerl: boolean
  /** Whether a process under the Landlock ruleset could not access the memory of its parent. */
  readonly isKeptApart: boolean
  /** Whether the machine forbids processes to trace their parents. */
  readonly isScoped: boolean
}

/** Tests whether a process of an observed run can access the memory of its parent. */
export function probeMemory(): MemoryFacts {
  const hasPerl = existsSync(PERL)
  const attempt = ['-e', 'exit(sysopen(my $memory, $ARGV[0], 2) ? 1 : 0)', `/proc/${process.pid}/mem`]
  const tried = hasPerl ? spawnSync(ENTER, [PERL, ...attempt], { stdio: 'ignore', timeout: TRY_MS_MAX }) : null
  const isScoped = existsSync(PTRACE_SCOPE) && Number(readFileSync(PTRACE_SCOPE, 'utf8')) > 0
  return { kernel: release(), hasPerl, isKeptApart: tried?.status === 0, isScoped }
}
