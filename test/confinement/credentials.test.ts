import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Account, accounts, belongingTo, SYSTEM_PATH } from './account.js'
import { copyProgram, type Program } from './program.js'
import { type Setting, someSettings } from './stage.js'

const RUN_MS_MAX = 300_000
const RUNNER = fileURLToPath(new URL('environment-runner.mjs', import.meta.url))
const SECRET = 'planted-credential'

let program: Program
const made: string[] = []
beforeAll(async () => {
  program = await copyProgram(accounts())
}, RUN_MS_MAX)
afterAll(() => {
  program.remove()
  for (const dir of made) rmSync(dir, { recursive: true, force: true })
})

/** A home with tools of Rust, Node.js and Python that are on the PATH. */
function newHome(account: Account): string {
  const home = mkdtempSync('/var/tmp/phaselock-credentials-')
  made.push(home)
  const folders = [
    '.cargo',
    '.cargo/bin',
    '.nvm',
    '.nvm/v1',
    '.nvm/v1/bin',
    '.local',
    '.local/share',
    '.local/share/uv',
  ]
  for (const name of [...folders, '.local/share/uv/bin']) mkdirSync(join(home, name))
  for (const name of ['.pyenv/shims', '.pyenv/versions/3.1/bin', '.nvm/versions/node/v2/etc', '.sdkman/bin'])
    mkdirSync(join(home, name), { recursive: true })
  mkdirSync(join(home, '.sdkman/candidates/maven/3/conf'), { recursive: true })
  const files = {
    '.cargo/bin/tool': '#!/bin/sh\necho a tool of cargo\n',
    '.cargo/config.toml': 'a setting',
    '.nvm/v1/bin/node': `#!/bin/sh\nexec ${program.node} "$@"\n`,
    '.local/share/uv/bin/tool-of-uv': '#!/bin/sh\necho a tool of uv\n',
    '.pyenv/versions/3.1/bin/tool-of-python': '#!/bin/sh\necho a tool of python\n',
    // Settings of versions that are installed.
    '.pyenv/versions/3.1/pip.conf': `${SECRET} of pip`,
    '.nvm/versions/node/v2/etc/npmrc': `${SECRET} of npm`,
    '.sdkman/candidates/maven/3/conf/settings.xml': `${SECRET} of maven`,
    // This one is there from the start, and replaced later.
    '.cargo/credentials': `${SECRET} from the start`,
  }
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(home, name), content)
    chmodSync(join(home, name), name.includes('/bin/') ? 0o755 : 0o644)
    chownSync(join(home, name), account.uid, account.gid)
  }
  for (const name of ['', ...folders]) chownSync(join(home, name), account.uid, account.gid)
  return home
}

async function run({ provider, account }: Setting, home: string, jobs: readonly object[]): Promise<readonly string[]> {
  const runner = join(home, 'runner.mjs')
  copyFileSync(RUNNER, runner)
  chmodSync(runner, 0o644)
  const path = ['.cargo/bin', '.nvm/v1/bin', '.local/share/uv/bin', '.pyenv/shims', '.sdkman/bin'].map((name) =>
    join(home, name),
  )
  const child = spawn(program.node, [runner, join(dirname(dirname(program.script)), 'dist')], {
    ...belongingTo(account),
    cwd: '/',
    env: { PATH: [...path, SYSTEM_PATH].join(':'), HOME: home },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin?.end(JSON.stringify({ provider, dir: home, jobs }))
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  await once(child, 'close')
  return (JSON.parse(output) as { results: readonly { stdout: string }[] }).results.map(({ stdout }) => stdout)
}

describe.concurrent.each(someSettings())('$name', (setting) => {
  it(
    '[REQ-WALL-16] credentials that a tool writes after the start are not seen, and the tools still are',
    async () => {
      const home = newHome(setting.account)
      const look = {
        argv: [
          'bash',
          '-c',
          `tool; tool-of-uv; ${home}/.pyenv/versions/3.1/bin/tool-of-python; cat ${home}/.cargo/config.toml; grep -rs ${SECRET} ${home}; echo READY`,
        ],
        env: {},
      }
      const late = [
        '.cargo/credentials',
        '.cargo/credentials.toml',
        '.nvm/v1/etc/npmrc',
        '.local/share/uv/credentials/credentials.toml',
        '.npmrc',
        '.netrc',
        '.pypirc',
        '.m2/settings.xml',
        '.gradle/gradle.properties',
      ]
      const files = Object.fromEntries(late.map((name) => [join(home, name), `${SECRET} in ${name}`]))
      const [before, after] = await run(setting, home, [look, { ...look, files }])
      const expected = 'a tool of cargo\na tool of uv\na tool of python\na settingREADY\n'
      expect(before).toBe(expected)
      expect(after).toBe(expected)
      // Outside they are there to be found.
      const outside = spawn('grep', ['-rlsa', SECRET, home], { stdio: ['ignore', 'pipe', 'inherit'] })
      let found = ''
      outside.stdout?.on('data', (chunk: Buffer) => {
        found += chunk.toString()
      })
      await once(outside, 'close')
      for (const name of late) expect(found).toContain(name)
    },
    RUN_MS_MAX,
  )
})
