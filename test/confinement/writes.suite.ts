import {
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { differing, fingerprint } from './fingerprint.js'
import { type Ran, type Setting, type Stage, someSettings } from './stage.js'
import type { Stages } from './stages.js'
import { NEVER, WRITES } from './writes.js'

const ALL_MS_MAX = 180_000
const isRoot = process.getuid?.() === 0
/** These are also tried by themselves, and each together with a change that is allowed. */
const ALONE = WRITES.filter((_, index) => index % 6 === 0)

interface Effect {
  readonly ran: Ran
  readonly changed: readonly string[]
}

const done = new Map<string, Effect>()

async function tryAll(stage: Stage): Promise<void> {
  // Small, for what is tried alone; and large, with a folder for each way, for what is tried at once.
  const small = await trier(stage, await makeTree(stage, 'small', 1))
  for (const { name, script } of someFor(stage, ALONE)) {
    await small(`${name} below src`, script('src/0', 'tests'))
    await small(
      `${name} beside a test`,
      `echo new > tests/new.txt; ${script('src/0', 'tests')}\necho new >> tests/0/main.txt`,
    )
  }
  for (const [name, script] of someFor(stage, NEVER)) await small(name, script)
  const large = await trier(stage, await makeTree(stage, 'large', WRITES.length))
  await large('everything below src', all('src'))
  await large('everything below tests', all('tests'))
}

async function trier(stage: Stage, tree: string): Promise<(name: string, script: string) => Promise<void>> {
  const agent = await stage.agent(tree)
  let before = fingerprint(tree)
  return async (name, script) => {
    const ran = await agent.bash(script)
    const after = fingerprint(tree)
    done.set(`${stage.name}: ${name}`, { ran, changed: differing(before, after) })
    before = after
  }
}

// Each in a folder of its own, and each says whether it failed.
function all(folder: string): string {
  const lines = WRITES.map(
    ({ script }, at) => `(${script(`${folder}/${at}`, `tests/${at}/scratch`)}\n) || echo "failed ${at}"`,
  )
  return lines.join('\n')
}

// The same folders in src and in tests, so that the same can be tried in both, and two commits of them.
async function makeTree(stage: Stage, name: string, folders: number): Promise<string> {
  const tree = stage.makeTree(name)
  const lines = [
    'git init -q . && git config user.name x && git config user.email x@x',
    'mkdir -p src/0/lib src/0/empty src/0/scratch && echo as it was > src/0/main.txt && echo as it was > src/0/lib/a.txt',
    'printf "#!/bin/sh\\n" > src/0/tool.sh && chmod 755 src/0/tool.sh',
    `for n in $(seq 1 ${folders - 1}); do cp -a src/0 src/$n; done; cp -a src tests; ln -s ../src/0/main.txt tests/way-in`,
    'for f in */*/main.txt; do echo before > $f; done; git add . && git commit -qm one',
    'for f in */*/main.txt; do echo as it was > $f; done; git add . && git commit -qm two',
    'touch .git/hooks/pre-commit',
  ]
  const made = await stage.outside(lines.join('\n'), { cwd: tree })
  if (made.exit !== 0) throw new Error(made.stderr)
  return tree
}

function effectOf(setting: Setting, name: string): Effect {
  const effect = done.get(`${setting.name}: ${name}`)
  if (effect === undefined) throw new Error(`${name} was never tried`)
  return effect
}

/** It failed inside and changed nothing, or it was refused and the refusal says which paths it was about. */
function expectRefused({ ran, changed }: Effect): void {
  expect(changed).toEqual([])
  if (ran.status === 200) {
    expect(ran.exit).not.toBe(0)
    expect(ran.body.result).toMatchObject({ changes: [] })
  } else {
    expect(ran).toMatchObject({ status: 403, code: 'constraint_violation' })
    expect(ran.paths.length).toBeGreaterThan(0)
  }
}

// The unshare provider reads and commits changes with the code of the other overlay: there, every third will do.
function someFor<T>(setting: Setting, all: readonly T[]): readonly T[] {
  return setting.provider === 'unshare' ? all.filter((_, index) => index % 3 === 0) : all
}

/** Commands change what their phase does not allow, by every way there is. */
export function writesSuite(stages: Stages): void {
  beforeAll(async () => {
    await Promise.all(someSettings().map((setting) => tryAll(stages.of(setting))))
  }, ALL_MS_MAX)

  describe.each(someSettings())('writing: $name', (setting) => {
    it('[REQ-WALL-9] all ways to change src at once change nothing', () => {
      expectRefused(effectOf(setting, 'everything below src'))
    })

    it.each(WRITES)('[REQ-WALL-9] the refusal reports what was changed below src by $name', ({ name }) => {
      const { ran } = effectOf(setting, 'everything below src')
      const folder = `src/${WRITES.findIndex((one) => one.name === name)}`
      expect(ran.paths.length).toBe(ran.body.path_count)
      expect(ran.paths.filter((path) => path === folder || path.startsWith(`${folder}/`))).not.toEqual([])
    })

    it.each(someFor(setting, ALONE))('[REQ-WALL-9] nothing below src is changed by $name', ({ name }) => {
      expectRefused(effectOf(setting, `${name} below src`))
    })

    it.each(someFor(setting, ALONE))(
      '[REQ-WALL-9] an allowed change that comes with it does not arrive either: $name',
      ({ name }) => {
        const { ran, changed } = effectOf(setting, `${name} beside a test`)
        expect({ status: ran.status, code: ran.code, changed }).toEqual({
          status: 403,
          code: 'constraint_violation',
          changed: [],
        })
        expect(ran.paths.filter((path) => !path.startsWith('src'))).toEqual([])
      },
    )

    it.each(WRITES)('[REQ-WALL-10] below tests the same arrives: $name', ({ name }) => {
      const { ran, changed } = effectOf(setting, 'everything below tests')
      expect({ status: ran.status, exit: ran.exit }).toEqual({ status: 200, exit: 0 })
      const index = WRITES.findIndex((one) => one.name === name)
      expect(ran.stdout).not.toMatch(new RegExp(`^failed ${index}$`, 'm'))
      const folder = `./tests/${index}`
      expect(
        changed.filter((path) => path.startsWith(`${folder}/`) && !path.startsWith(`${folder}/scratch`)),
      ).not.toEqual([])
      expect(changed.filter((path) => !/^\.\/tests(\/|$)/.test(path))).toEqual([])
    })

    it.each(someFor(setting, NEVER))('[REQ-WALL-9] nothing arrives of %s', (name) => {
      expectRefused(effectOf(setting, name))
    })

    it('[REQ-WALL-9] a process that is still running when the command ends writes nothing afterwards', async () => {
      const stage = stages.of(setting)
      const tree = await makeTree(stage, 'late', 1)
      const agent = await stage.agent(tree)
      const before = fingerprint(tree)
      const late = (words: string): string =>
        `(${words} sh -c 'sleep 0.3; echo new > tests/late.txt' >/dev/null 2>&1 &)`
      expect(await agent.bash([late('setsid'), late('nohup'), late('exec')].join('\n'))).toMatchObject({
        status: 200,
        exit: 0,
      })
      await new Promise((resolve) => setTimeout(resolve, 500))
      expect(differing(before, fingerprint(tree))).toEqual([])
    })

    it('[REQ-WALL-10] a file with a second name outside of tests is changed only under its name in tests', async () => {
      const stage = stages.of(setting)
      const tree = stage.makeTree('twins')
      for (const folder of ['src', 'tests']) mkdirSync(join(tree, folder))
      writeFileSync(join(tree, 'src', 'twin'), 'as it was\n')
      linkSync(join(tree, 'src', 'twin'), join(tree, 'tests', 'twin'))
      if (isRoot)
        await stage.outside(`chown -R ${setting.account.uid}:${setting.account.gid} .`, {
          cwd: tree,
          account: { name: 'root', uid: 0, gid: 0 },
        })
      const ran = await (await stage.agent(tree)).bash('echo new >> tests/twin')
      expect(readFileSync(join(tree, 'src', 'twin'), 'utf8')).toBe('as it was\n')
      // A copied tree keeps the two names together, and then nothing is changed at all.
      if (ran.status === 200) expect(readFileSync(join(tree, 'tests', 'twin'), 'utf8')).toBe('as it was\nnew\n')
      else expect(ran).toMatchObject({ status: 403, code: 'constraint_violation', paths: ['src/twin'] })
    })

    it.each(isRoot ? [0, 33, 1_234_567] : [process.getuid?.() ?? 0])(
      '[REQ-WALL-10] what arrives has its content and mode without special bits, and the owner of its folder: uid %i',
      async (uid) => {
        const stage = stages.of(setting)
        // A user can work in a tree of its own only.
        const owner = setting.account.name === 'root' ? uid : setting.account.uid
        const tree = stage.makeTree(`owned-by-${uid}`)
        mkdirSync(join(tree, 'tests'))
        writeFileSync(join(tree, 'tests', 'old.txt'), 'old\n')
        for (const path of ['', 'tests', 'tests/old.txt']) chownSync(join(tree, path), owner, owner)
        const names = ['plain', '-dash', 'quote\'s "and" $more', 'tab\t', 'ünïcode 名', 'x'.repeat(255)]
        const script = [
          ...names.map((name) => `printf %s content > tests/${bashWord(name)}`),
          `perl -e 'print pack("C*", 0 .. 255)' > tests/bytes; : > tests/empty; echo more >> tests/old.txt`,
          'touch tests/m600 tests/m755 tests/m6755 tests/m400; for m in 600 755 6755 400; do chmod $m tests/m$m; done',
          'mkdir -p tests/deep/er && echo x > tests/deep/er/x && chmod 3775 tests/deep && ln -s plain tests/link',
        ]
        expect(await (await stage.agent(tree)).bash(script.join('\n'))).toMatchObject({
          status: 200,
          exit: 0,
          stderr: '',
        })
        const at = (name: string): string => join(tree, 'tests', name)
        for (const name of names) expect(readFileSync(at(name), 'utf8')).toBe('content')
        expect([...readFileSync(at('bytes'))]).toEqual(Array.from({ length: 256 }, (_, index) => index))
        expect(readFileSync(at('old.txt'), 'utf8')).toBe('old\nmore\n')
        const modes = ['plain', 'empty', 'm600', 'm755', 'm6755', 'm400', 'deep', 'deep/er/x'].map((name) =>
          (lstatSync(at(name)).mode & 0o7777).toString(8),
        )
        expect(modes).toEqual(['644', '644', '600', '755', '755', '400', '775', '644'])
        expect(readlinkSync(at('link'))).toBe('plain')
        const owners = readdirSync(at(''), { recursive: true, encoding: 'utf8' }).map((name) => lstatSync(at(name)))
        expect(new Set(owners.map((stats) => `${stats.uid}:${stats.gid}`))).toEqual(new Set([`${owner}:${owner}`]))
      },
    )
  })
}

function bashWord(text: string): string {
  return `$'${text.replaceAll(/[\\']/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t')}'`
}
