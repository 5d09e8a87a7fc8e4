import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openSecondChannel } from '../../src/checks/observed-runs/second-report.js'
import { addGuards, buildGuardedArgv, GUARDS_FOLDER } from '../../src/checks/observed-runs/test-guards.js'
import type { Job, ProviderName } from '../../src/confinement/confinement.js'
import { buildSeccompFilter } from '../../src/confinement/launch/seccomp.js'
import { openConfinement } from '../../src/confinement/open-confinement.js'
import { runCommand } from '../../src/confinement/run-command.js'
import { describeProviders, isHere } from './providers.js'
import { PROVIDERS } from './stage.js'

// Each way to send SIGUSR1, to this process itself, and then another signal the same way.
const SEND = `use POSIX ();
$SIG{USR1} = $SIG{USR2} = sub {};
my %calls = (kill => [62, $$, 0], tkill => [200, $$, 0], tgkill => [234, $$, $$, 0], queue => [129, $$, 0, ''], tgqueue => [297, $$, $$, 0, '']);
my $pidfd = syscall(434, $$, 0);
$calls{pidfd} = [424, $pidfd, 0, 0, 0];
for my $name (sort keys %calls) {
  for my $signal (10, 12) {
    my @call = @{$calls{$name}};
    my $at = ($name eq 'tgkill' || $name eq 'tgqueue') ? 3 : 2;
    $call[$at] = $signal;
    if ($name =~ /queue/) { my $info = pack('iii x4 x112', $signal, 0, -1); $call[$at + 1] = $info; }
    my $answer = syscall(shift @call, @call);
    print "$name $signal ", ($answer == 0 ? 'sent' : $!{EPERM} ? 'refused' : "$!"), "\\n";
  }
}
open(my $null, '<', '/dev/null');
print 'setsig 10 ', (defined fcntl($null, 10, 10) ? 'sent' : 'refused'), "\\n";
print 'setsig 12 ', (defined fcntl($null, 10, 12) ? 'sent' : 'refused'), "\\n";
`
const NAMES = ['kill', 'pidfd', 'queue', 'setsig', 'tgkill', 'tgqueue', 'tkill']

// What a program can know of its surroundings.
const DUMP = `const fs = require('fs')
const mounts = fs.readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\\n').map((line) => line.split(' ')[4])
const environ = fs.readFileSync('/proc/self/environ', 'utf8').split('\\0').map((pair) => pair.split('=')[0])
const { execArgv, argv, env } = process
const modules = Object.keys(require.cache).filter((file) => file !== __filename)
console.log(JSON.stringify({ env: Object.keys(env).sort(), environ: environ.sort(), argv, execArgv, modules, mounts: [...new Set(mounts)].sort(),
  cwd: process.cwd(), uid: process.getuid(), groups: process.getgroups(), host: require('os').hostname() }))
`

async function onStage<T>(
  only: ProviderName,
  work: (run: (job: Partial<Job>) => Promise<string>) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'observed-'))
  const tree = join(folder, 'tree')
  mkdirSync(join(folder, 'state'), { mode: 0o700 })
  mkdirSync(tree)
  writeFileSync(join(tree, 'send.pl'), SEND)
  writeFileSync(join(tree, 'dump.cjs'), DUMP)
  const confinement = await openConfinement({ stateDir: join(folder, 'state'), only })
  try {
    expect(confinement.provider).toBe(only)
    return await work(async (job) => {
      const ran = await runCommand(confinement, {
        ...{ tree, argv: [], cwd: '.', env: {}, network: false, writes: 'discard', git: 'read', hidden: [] },
        ...{ signal: new AbortController().signal, timeoutMs: 30_000 },
        ...job,
      } as Job)
      return ran.exitCode === 0 ? ran.stdout : `${ran.exitCode}: ${ran.stdout}${ran.stderr}`
    })
  } finally {
    await confinement.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const SENDS = process.arch === 'x64' ? PROVIDERS : []
describeProviders(
  SENDS,
  (name) => `an observed run with ${name}`,
  (provider) => {
    it('[REQ-WITNESS-2] sends no SIGUSR1 in any way, and every other signal; an agent sends both', async () => {
      await onStage(provider, async (run) => {
        const argv = ['bash', '-c', 'perl send.pl | sort']
        const lines = (usr1: string): string =>
          NAMES.flatMap((name) => [`${name} 10 ${usr1}`, `${name} 12 sent`]).join('\n')
        expect((await run({ argv, isObserved: true })).trim()).toBe(lines('refused'))
        expect((await run({ argv })).trim()).toBe(lines('sent'))
      })
    })

    it('[REQ-WITNESS-4] has no way into the memory of processes before it, and can move files between folders', async () => {
      await onStage(provider, async (run) => {
        const line =
          'for p in 1 $PPID; do { : 3<>/proc/$p/mem; } 2>/dev/null && echo "$p open"; done; mkdir a b; echo x >a/x; mv a/x b/x; ln b/x a/y; cat a/y; { : 3<>/proc/self/mem; } && echo own'
        const reads = ['bash', '-c', `${line}`]
        const inside = await run({
          argv: buildGuardedArgv(`bash -c '${line}'`),
          isObserved: true,
          shown: [GUARDS_FOLDER],
        })
        expect(inside).not.toMatch(/^1 open/m)
        expect(inside).toMatch(/x\nown/)
        expect(await run({ argv: reads })).toMatch(/x\nown/)
      })
    })
  },
)

describe.skipIf(!isHere('overlay+bubblewrap'))('the surroundings of an observed run', () => {
  it('[REQ-WITNESS-5] differ from those of an agent\u2019s command in a few things that are listed', async () => {
    await onStage('overlay+bubblewrap', async (run) => {
      const channel = await openSecondChannel()
      const line = 'node dump.cjs'
      const plain = JSON.parse(await run({ argv: ['bash', '-c', line], env: { CI: '1' } }))
      const observed = JSON.parse(
        await run({
          ...{
            argv: buildGuardedArgv(line),
            env: addGuards({ CI: '1' }),
            shown: [GUARDS_FOLDER],
            sockets: [channel.socket],
          },
          isObserved: true,
        }),
      ) as Record<string, unknown>
      channel.close()
      const differing = Object.keys(plain).filter((key) => JSON.stringify(plain[key]) !== JSON.stringify(observed[key]))
      // A program that runs no tests itself keeps the variables: what it starts may.
      expect(differing).toEqual(['env', 'environ', 'modules', 'mounts'])
      const added = (key: string): unknown[] => (observed[key] as unknown[]).filter((one) => !plain[key].includes(one))
      expect(added('env')).toEqual(['NODE_OPTIONS', 'PYTHONPATH', 'npm_config_node_options'])
      expect(added('mounts').sort()).toEqual(['/run/phaselock', '/run/phaselock/report.sock', GUARDS_FOLDER].sort())
    })
  })

  it('[REQ-WITNESS-2] have a filter on both kinds of processors', () => {
    for (const arch of ['x64', 'arm64'])
      expect(buildSeccompFilter('observed', arch)?.length).toBeGreaterThan(
        buildSeccompFilter('agent', arch)?.length ?? Infinity,
      )
    expect(buildSeccompFilter('observed', 'mips')).toBeNull()
  })
})
