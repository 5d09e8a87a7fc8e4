import { readFileSync, readlinkSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { CACHE_VARIABLES } from '../../src/confinement/view/home-cache.js'
import { accounts, plainly, quoted } from './account.js'
import { newMark, processesWith, within } from './scene.js'
import { LEFT_OPEN } from './server.js'
import { type Agent, someSettings } from './stage.js'
import { inTerminal, type Stages } from './stages.js'
import { WITHOUT_NETWORK } from './without-network.js'

/** DAC_OVERRIDE and FOWNER: without them a uid of its own could open nothing of a tree that belongs to somebody else. */
const KEPT_UNDER_ROOT = 0xan
const BEGUN_MS_MAX = 180_000
const isRoot = process.getuid?.() === 0
const NAMESPACES = ['user', 'mnt', 'pid', 'net', 'ipc', 'uts', 'cgroup']

/** Who a command is, and what it inherits. The servers are started at a terminal, which commands must not get hold of. */
export function identitySuite(stages: Stages): void {
  describe.concurrent.each(someSettings())('identity: $name', (setting) => {
    let agent: Agent
    beforeAll(async () => {
      agent = await stages.of(setting).agent()
    })

    it('[REQ-WALL-8] every process that a command can see has the filter, no new rights and only the rights that are meant', async () => {
      const { stdout } = await agent.bash(
        'sleep 1 & grep -E "^(Uid|Cap(Inh|Prm|Eff|Amb)|NoNewPrivs|Seccomp):" /proc/[0-9]*/status',
      )
      const said = [...stdout.matchAll(/^\/proc\/(\d+)\/status:(\w+):\s+(\S+)/gm)].map(([, pid, key, value]) => ({
        pid,
        key,
        value,
      }))
      expect(new Set(said.map((one) => one.pid)).size).toBeGreaterThan(1)
      const allowed = setting.account.name === 'root' ? KEPT_UNDER_ROOT : 0n
      const wrong = said.filter(({ key, value }) => {
        if (key === 'NoNewPrivs') return value !== '1'
        if (key === 'Seccomp') return value !== '2'
        return key?.startsWith('Cap') && (BigInt(`0x${value}`) & ~allowed) !== 0n
      })
      expect(wrong).toEqual([])
    })

    it('[REQ-WALL-8] a command is never the real root, and has its own namespaces', async () => {
      const stage = stages.of(setting)
      const mark = newMark()
      const running = agent.bash(`(exec -a ${mark} sleep 2)`)
      expect(await within(BEGUN_MS_MAX, () => processesWith(mark).length > 0)).toBe(true)
      const [seen] = processesWith(mark)
      const same = NAMESPACES.filter((kind) => namespaceOf(seen?.pid, kind) === namespaceOf(stage.pid, kind))
      await running
      expect(same).toEqual([])
      expect(seen?.uids).toHaveLength(4)
      if (stage.account.name === 'root') expect(seen?.uids.every((uid) => uid > 65_535)).toBe(true)
      else expect(new Set(seen?.uids)).toEqual(new Set([stage.account.uid]))
    })

    it.runIf(isRoot)(
      '[REQ-WALL-8] a setuid program of root gives a command no rights, and gives them to a user outside',
      async () => {
        const stage = stages.of(setting)
        const line = `${stage.tree}/id-of-root`
        expect((await agent.bash(line)).stdout).toMatch(/^uid=1000\(agent\) gid=1000\(agent\) groups=\S+\n$/)
        const outside = await plainly(line, { account: accounts().at(-1) ?? stage.account, cwd: '/' })
        expect(outside.stdout).toContain('euid=0')
      },
    )

    it('[REQ-WALL-8] no setuid program of the machine helps a command', async () => {
      const lines = [
        'su -c true',
        'mount -t tmpfs none /tmp',
        'umount /tmp',
        'newgrp root -c true',
        'chsh -s /bin/sh root',
      ]
      const all = lines.map((line) => `(timeout 0.5 ${line} </dev/null >/dev/null 2>&1 && echo "${line}") &`)
      expect(await agent.bash([...all, 'wait'].join('\n'))).toMatchObject({ exit: 0, stdout: '' })
    })

    it('[REQ-WALL-7] a command has descriptors 0, 1 and 2 and no other', async () => {
      expect((await agent.bash('for fd in /proc/self/fd/*; do [ -h "$fd" ] && basename "$fd"; done')).stdout).toBe(
        '0\n1\n2\n',
      )
    })

    it.each(LEFT_OPEN)(
      '[REQ-WALL-7] descriptor %i of the server cannot be read by a command, and by another child it can',
      async (fd) => {
        const stage = stages.of(setting)
        expect((await agent.bash(`cat <&${fd}`)).exit).not.toBe(0)
        const open = LEFT_OPEN.map((one) => `${one}<${stage.dir}/descriptor`).join(' ')
        const outside = await stage.outside(`cat <&${fd}`, { under: ['bash', '-c', `exec ${open}; exec "$@"`, 'bash'] })
        expect(outside.stdout.trim()).toBe(stage.secrets.get('descriptor'))
      },
    )

    it('[REQ-WALL-7] the environment of a command is a short list, and the environment of the server is not in it', async () => {
      const names = (await agent.bash('env')).stdout.split('\n').flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? [])
      const known = [
        ...['PATH', 'HOME', 'TMPDIR', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TERM', 'TZ', 'PWD', 'OLDPWD', 'SHLVL', '_'],
        ...WITHOUT_NETWORK,
        ...Object.keys(CACHE_VARIABLES),
      ]
      expect(names.filter((name) => !known.includes(name))).toEqual([])
      expect(names).toContain('PATH')
      const { pid } = stages.of(setting)
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toContain('AWS_SECRET_ACCESS_KEY=planted-')
    })

    it('[REQ-WALL-7] what a command leaves in its home and its environment does not reach the next one', async () => {
      const files = ['.bashrc', '.bash_profile', '.profile', '.gitconfig', '.perldb', '.noderc']
      const leave = files.map((file) => `echo 'export LD_PRELOAD=/tmp/evil.so BROKEN=1' > ~/${file}`)
      expect(
        await agent.bash(
          [...leave, 'export LD_PRELOAD=/tmp/evil.so BASH_ENV=~/.bashrc', 'touch /dev/shm/left', 'ls -A ~'].join('\n'),
        ),
      ).toMatchObject({ exit: 0 })
      const next = await agent.bash(
        'ls -A ~ /dev/shm | grep -v "^/" ; bash -lc env | grep -E "BROKEN|LD_PRELOAD|BASH_ENV"; true',
      )
      expect(
        next.stdout.split('\n').filter((line) => files.includes(line) || /left|BROKEN|LD_PRELOAD|BASH_ENV/.test(line)),
      ).toEqual([])
    })

    it('[REQ-WALL-7] a command has no terminal, where any other child of the server has one', async () => {
      const open = 'exec 9</dev/tty && [ -t 9 ]'
      const number = "cut -d')' -f2 /proc/self/stat | cut -d' ' -f6"
      const inside = await agent.bash(
        `(${open}) 2>/dev/null && echo open; ${number}; ls /dev/pts 2>/dev/null | grep '^[0-9]'; tty`,
      )
      expect(inside.stdout).toBe('0\nnot a tty\n')
      const words = inTerminal(['bash', '-c', `(${open}) && echo open; ${number}; tty`])
      const outside = await stages.of(setting).outside(words.map(quoted).join(' '))
      expect(outside.stdout).toMatch(/open\r?\n[1-9]\d*\r?\n\/dev\/pts\/\d+/)
    })
  })
}

function namespaceOf(pid: number | undefined, kind: string): string {
  return readlinkSync(`/proc/${pid}/ns/${kind}`)
}
