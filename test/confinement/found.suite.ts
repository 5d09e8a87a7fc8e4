import { chownSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { someSettings } from './stage.js'
import type { Stages } from './stages.js'

const canGiveAway = process.getuid?.() === 0

/** What broke once. */
export function foundSuite(stages: Stages): void {
  describe.concurrent.each(someSettings())('found before: $name', (setting) => {
    it('[REQ-WALL-4] a command that kills its process group does not reach the server', async () => {
      const stage = stages.of(setting)
      const agent = await stage.agent()
      expect((await agent.bash('kill -9 0')).exit).toBe(137)
      expect((await stage.call('GET', '/health', null)).status).toBe(200)
      expect((await agent.bash('echo still here')).stdout).toBe('still here\n')
    })

    it('[REQ-WALL-10] a pipe and a socket that were in the tree before do not prevent commands', async () => {
      const stage = stages.of(setting)
      const tree = stage.makeTree('with-specials')
      const making =
        'mkfifo pipe; perl -MSocket -e \'socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, pack_sockaddr_un("socket"))\''
      await stage.outside(making, { cwd: tree })
      const agent = await stage.agent(tree)
      expect(await agent.bash('mkdir tests; echo new > tests/new.txt')).toMatchObject({ status: 200, exit: 0 })
      expect(readFileSync(join(tree, 'tests', 'new.txt'), 'utf8')).toBe('new\n')
    })

    it.runIf(canGiveAway)('[REQ-WALL-10] a file of another owner in the tree does not prevent commands', async () => {
      const stage = stages.of(setting)
      const tree = stage.makeTree('with-foreign-files')
      for (const uid of [0, 33, 1_234_567]) {
        writeFileSync(join(tree, `of-${uid}.txt`), 'as it was\n')
        chownSync(join(tree, `of-${uid}.txt`), uid, uid)
      }
      const agent = await stage.agent(tree)
      expect(await agent.bash('cat *.txt; mkdir tests; echo new > tests/new.txt')).toMatchObject({
        status: 200,
        exit: 0,
        stdout: 'as it was\n'.repeat(3),
      })
      expect(readFileSync(join(tree, 'tests', 'new.txt'), 'utf8')).toBe('new\n')
    })

    it('[REQ-WALL-1] a git file that claims a folder above the tree shows nothing of that folder', async () => {
      const stage = stages.of(setting)
      stage.makeTree('worktrees')
      const tree = stage.makeTree('worktrees/hostile')
      const files = { '.git': 'gitdir: .\n', gitdir: `${tree}/.git\n`, commondir: '../..\n' }
      for (const [name, content] of Object.entries(files)) {
        writeFileSync(join(tree, name), content)
        chownSync(join(tree, name), setting.account.uid, setting.account.gid)
      }
      const reading = `cat ${stage.stateDir}/operator.token || ls ${stage.dir}/contract.yaml || ls ${stage.stateDir} | grep ledger`
      expect((await stage.outside(reading)).exit).toBe(0)
      const ran = await (await stage.agent(tree)).bash(reading)
      expect({ status: ran.status, stdout: ran.stdout }).toEqual({ status: 200, stdout: '' })
      expect(ran.exit).not.toBe(0)
    })

    // Only a copied tree is named entry by entry.
    if (setting.provider === 'bubblewrap' && setting.account.name === 'user')
      it('[REQ-WALL-11] more names at the top of a tree than fit into a command line do not prevent commands', async () => {
        const stage = stages.of(setting)
        const tree = stage.makeTree('with-many')
        await stage.outside(`mkdir tests; perl -e 'for (1 .. 8500) { open(F, ">", ("n" x 250) . $_) }'`, { cwd: tree })
        const ran = await (await stage.agent(tree)).bash('ls | wc -l; echo new > tests/new.txt')
        expect({ status: ran.status, exit: ran.exit, stdout: ran.stdout.trim() }).toEqual({
          status: 200,
          exit: 0,
          stdout: '8501',
        })
      })

    it('[REQ-WALL-11] a name at the top of a tree that is not text is answered without a fault', async () => {
      const stage = stages.of(setting)
      const tree = stage.makeTree('with-bytes')
      // Claimed before: what a claim says of such a tree is another matter.
      const agent = await stage.agent(tree)
      await stage.outside(`mkdir tests; echo x > $'\\xff\\xfe'`, { cwd: tree })
      expect((await agent.bash('echo new > tests/new.txt')).status).toBeLessThan(500)
    })

    it('[REQ-WALL-11] a task in a tree with a name that is not text is claimed without a fault', async () => {
      const stage = stages.of(setting)
      const tree = stage.makeTree('claimed-with-bytes')
      await stage.outside(`echo x > $'\\xff\\xfe'`, { cwd: tree })
      await stage.agent(tree)
    })
  })
}
