import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildHostView } from '../../src/confinement/view/host-view.js'
import { depth } from '../depth.js'
import { type Account, accounts, belongingTo, SYSTEM_PATH } from './account.js'
import { copyProgram, type Program } from './program.js'
import { type Setting, someSettings } from './stage.js'

const RUN_MS_MAX = 300_000
const RUNNER = fileURLToPath(new URL('environment-runner.mjs', import.meta.url))
const SECRET = 'planted-credential'
const GO = ['/usr/local/go', '/usr/lib/go', join(homedir(), 'go')].find((root) => existsSync(join(root, 'bin', 'go')))
const CARGO = process.env.CARGO_HOME ?? join(homedir(), '.cargo')
const RUST = outputOf('rustc', ['--print', 'sysroot'])
const PYENV = process.env.PYENV_ROOT ?? join(homedir(), '.pyenv')

let program: Program
const made: string[] = []
beforeAll(async () => {
  program = await copyProgram(accounts())
}, RUN_MS_MAX)
afterAll(() => {
  program.remove()
  for (const dir of made) spawnSync('rm', ['-rf', dir])
})

function outputOf(command: string, args: readonly string[]): string {
  return spawnSync(command, args, { encoding: 'utf8' }).stdout?.trim() ?? ''
}

/** Linked, not copied: toolchains are large. Only root may link what belongs to others. */
function linkFolder(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  const linked = spawnSync('cp', ['-al', from, to]).status === 0
  if (!linked) spawnSync('cp', ['-a', from, to])
}

function newHome(account: Account): string {
  const home = mkdtempSync('/var/tmp/phaselock-toolchains-')
  made.push(home)
  chownSync(home, account.uid, account.gid)
  mkdirSync(join(home, 'tree'), { mode: 0o755 })
  return home
}

function write(root: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), content)
  }
}

interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

async function run(
  { provider, account }: Setting,
  home: string,
  one: {
    readonly path: readonly string[]
    readonly env?: Readonly<Record<string, string>>
    readonly lines: readonly object[]
  },
): Promise<readonly Ran[]> {
  const runner = join(home, 'runner.mjs')
  copyFileSync(RUNNER, runner)
  chmodSync(runner, 0o644)
  // Folders alone: a file that was linked belongs to the toolchain of the machine as well.
  if (account.uid !== process.getuid?.())
    spawnSync('find', [home, '-type', 'd', '-exec', 'chown', String(account.uid), '{}', '+'])
  const child = spawn(program.node, [runner, join(dirname(dirname(program.script)), 'dist')], {
    ...belongingTo(account),
    cwd: '/',
    env: { PATH: [...one.path, SYSTEM_PATH].join(':'), HOME: home, ...one.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin?.end(JSON.stringify({ provider, dir: home, jobs: one.lines }))
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  await once(child, 'close')
  return (JSON.parse(output) as { results: readonly Ran[] }).results
}

function line(text: string, files: Readonly<Record<string, string>> = {}): object {
  return { argv: ['bash', '-c', `${text}; echo "exit $?"; echo READY`], env: {}, files, timeoutMs: RUN_MS_MAX }
}

// The first test of a cold cache builds the standard library: once is enough unless all is asked for.
const GO_LIST = 'go list -deps -test ./...'
function goCommand({ account }: Setting): string {
  return depth(account.name === 'root' ? 'go test -vet=off ./...' : GO_LIST, 'go test -vet=off ./...')
}

describe.each(someSettings())('$name', (setting) => {
  it.runIf(GO !== undefined)(
    '[REQ-WALL-18] go test runs in the sandbox, with a Go that is in the home and modules that were downloaded before',
    async () => {
      const home = newHome(setting.account)
      linkFolder(String(GO), join(home, 'sdk', 'go1'))
      const proxy = join(home, 'proxy/example.com/greeting/@v')
      write(proxy, {
        list: 'v1.0.0\n',
        'v1.0.0.info': '{"Version":"v1.0.0"}',
        'v1.0.0.mod': 'module example.com/greeting\n',
      })
      write(join(home, 'module/example.com/greeting@v1.0.0'), {
        'go.mod': 'module example.com/greeting\n',
        'greeting.go': 'package greeting\nconst Text = "hello"\n',
      })
      spawnSync('zip', ['-qrD', join(proxy, 'v1.0.0.zip'), '.'], { cwd: join(home, 'module') })
      write(join(home, 'tree'), {
        'go.mod': 'module example.com/main\ngo 1.20\nrequire example.com/greeting v1.0.0\n',
        'main_test.go':
          'package main\nimport ("testing"; "example.com/greeting")\nfunc TestText(t *testing.T) { if greeting.Text != "hello" { t.Fail() } }\n',
      })
      const env = {
        ...process.env,
        HOME: home,
        GOPROXY: `file://${join(home, 'proxy')}`,
        GONOSUMDB: '*',
        GOFLAGS: '-mod=mod',
      }
      const got = spawnSync(join(home, 'sdk/go1/bin/go'), ['mod', 'download', 'example.com/greeting'], {
        ...{ cwd: join(home, 'tree'), env, encoding: 'utf8' },
      })
      expect(got.stderr).toBe('')
      const [tested, late] = await run(setting, home, {
        path: [join(home, 'sdk/go1/bin')],
        env: { GOFLAGS: '-mod=mod' },
        lines: [
          line(`go env GOROOT GOMODCACHE GOPROXY; ${goCommand(setting)}`),
          line(`cat ${home}/go/pkg/mod/cache/vcs/one/config; grep -rs ${SECRET} ${home}/go`, {
            [join(home, 'go/pkg/mod/cache/vcs/one/config')]: SECRET,
          }),
        ],
      })
      expect(tested?.stdout).toContain(`${home}/sdk/go1\n${home}/go/pkg/mod\noff\n`)
      if (goCommand(setting) === GO_LIST) expect(tested?.stdout).toContain('example.com/greeting\nexample.com/main [')
      else expect(tested).toMatchObject({ stdout: expect.stringMatching(/ok\s+example\.com\/main\s[\s\S]*exit 0/) })
      expect(late?.stdout).not.toContain(SECRET)
    },
    RUN_MS_MAX,
  )

  it.runIf(RUST !== '' && existsSync(join(CARGO, 'bin', 'rustup')))(
    '[REQ-WALL-18] cargo test runs in the sandbox with the toolchain of rustup, and tokens of registries are not seen',
    async () => {
      const home = newHome(setting.account)
      for (const part of ['bin', 'lib'])
        linkFolder(join(RUST, part), join(home, '.rustup/toolchains/stable-here', part))
      write(join(home, '.rustup'), { 'settings.toml': 'version = "12"\ndefault_toolchain = "stable-here"\n' })
      linkFolder(join(CARGO, 'bin'), join(home, '.cargo', 'bin'))
      write(join(home, '.cargo'), {
        'registry/kept': 'a crate',
        'config.toml': `[registries.own]\ntoken = "${SECRET}"\n`,
        'credentials.toml': SECRET,
      })
      write(join(home, 'tree'), {
        'Cargo.toml': '[package]\nname = "one"\nversion = "0.1.0"\nedition = "2021"\n',
        'src/lib.rs': '#[test]\nfn adds() { assert_eq!(1 + 1, 2); }\n',
      })
      const [tested, seen] = await run(setting, home, {
        path: [join(home, '.cargo/bin')],
        lines: [
          line('cargo test 2>&1'),
          line(`cat ${home}/.cargo/registry/kept; grep -rs ${SECRET} ${home}/.cargo`, {
            [join(home, '.cargo/credentials')]: SECRET,
          }),
        ],
      })
      expect(tested).toMatchObject({ stdout: expect.stringMatching(/test result: ok\. 1 passed[\s\S]*exit 0/) })
      expect(seen?.stdout).toBe('a crateexit 1\nREADY\n')
    },
    RUN_MS_MAX,
  )

  it.runIf(existsSync(join(PYENV, 'versions')))(
    '[REQ-WALL-18] python of pyenv runs by its shim, and settings of pip are not seen',
    async () => {
      const home = newHome(setting.account)
      for (const part of ['bin', 'libexec', 'shims', 'pyenv.d']) linkFolder(join(PYENV, part), join(home, 'py', part))
      spawnSync('sed', ['-i', `s#${PYENV}#${join(home, 'py')}#g`, join(home, 'py/shims/python3')])
      write(join(home, 'py'), {
        version: '3.99.1\n',
        'versions/3.99.1/bin/python3': '#!/bin/sh\necho a python of pyenv\n',
        'versions/3.99.1/pip.conf': SECRET,
      })
      chmodSync(join(home, 'py/versions/3.99.1/bin/python3'), 0o755)
      const [ran, replaced] = await run(setting, home, {
        path: [join(home, 'py/shims'), join(home, 'py/bin')],
        env: { PYENV_ROOT: join(home, 'py') },
        lines: [
          line(`python3; grep -rs ${SECRET} ${home}/py`),
          line(`python3; grep -rs ${SECRET} ${home}/py`, { [join(home, 'py/versions/3.99.1/pip.conf')]: SECRET }),
        ],
      })
      expect(replaced?.stdout).toBe(ran?.stdout)
      expect(ran?.stdout).toBe('a python of pyenv\nexit 1\nREADY\n')
    },
    RUN_MS_MAX,
  )
})

describe.each(someSettings())('$name', (setting) => {
  it(
    '[REQ-WALL-24] programs of package managers in ~/.local/bin run, and no other file there is seen',
    async () => {
      const home = newHome(setting.account)
      write(join(home, '.local'), {
        'bin/uv': '#!/bin/sh\necho "uv with $UV_PYTHON_INSTALL_DIR"\n',
        'bin/deploy': `#!/bin/sh\necho ${SECRET}\n`,
        'share/pypoetry/venv/bin/poetry': '#!/bin/sh\necho "poetry with $POETRY_VIRTUALENVS_PATH"\n',
        'share/pypoetry/auth.toml': SECRET,
        'share/uv/python/one/bin/python3': '',
        'share/uv/credentials/credentials.toml': SECRET,
        'share/elsewhere/tox': `#!/bin/sh\necho ${SECRET}\n`,
      })
      write(join(home, '.cache'), {
        'pypoetry/virtualenvs/kept': '',
        'node/corepack/v1/kept': '',
        'other/kept': SECRET,
      })
      for (const file of ['bin/uv', 'bin/deploy', 'share/pypoetry/venv/bin/poetry', 'share/elsewhere/tox'])
        chmodSync(join(home, '.local', file), 0o755)
      symlinkSync('../share/pypoetry/venv/bin/poetry', join(home, '.local/bin/poetry'))
      symlinkSync('../share/elsewhere/tox', join(home, '.local/bin/tox'))
      const [ran, others, seen] = await run(setting, home, {
        path: [join(home, '.local/bin')],
        lines: [
          line('uv && poetry && echo "$COREPACK_HOME $COREPACK_ENABLE_NETWORK"'),
          line('deploy || tox || echo none'),
          line(
            `ls ${home}/.local/bin ${home}/.local/share ${home}/.cache; grep -rs ${SECRET} ${home}/.local ${home}/.cache`,
          ),
        ],
      })
      expect(ran?.stdout).toBe(
        `uv with ${home}/.local/share/uv/python\npoetry with ${home}/.cache/pypoetry/virtualenvs\n${home}/.cache/node/corepack 0\nexit 0\nREADY\n`,
      )
      expect(others?.stdout).toContain('none\n')
      expect(seen?.stdout).not.toContain(SECRET)
      expect(seen?.stdout).toMatch(/bin:\npoetry\nuv\n/)
    },
    RUN_MS_MAX,
  )
})

describe.each(someSettings())('$name', (setting) => {
  it(
    '[REQ-WALL-18] tools below /tmp are seen in the sandbox, read-only and without their credentials',
    async () => {
      const home = newHome(setting.account)
      const cargo = mkdtempSync('/tmp/phaselock-cargo-')
      made.push(cargo)
      write(cargo, { 'bin/hello': '#!/bin/sh\necho hello\n', 'credentials.toml': SECRET, 'registry/one': '' })
      spawnSync('chmod', ['-R', 'a+rX', cargo])
      chmodSync(join(cargo, 'bin/hello'), 0o755)
      if (setting.account.uid !== 0) spawnSync('chown', ['-R', String(setting.account.uid), cargo])
      const [ran] = await run(setting, home, {
        path: [join(cargo, 'bin')],
        env: { CARGO_HOME: cargo },
        lines: [
          line(`hello; cat ${cargo}/credentials.toml; touch ${cargo}/new ${cargo}/bin/new; ls /tmp; touch /tmp/own`),
        ],
      })
      expect(ran?.stdout).toBe(`hello\n${cargo.slice('/tmp/'.length)}\nexit 0\nREADY\n`)
      expect(existsSync(join(cargo, 'new')) || existsSync(join(cargo, 'bin/new'))).toBe(false)
    },
    RUN_MS_MAX,
  )
})

describe('what is found on a machine', () => {
  const newPlace = (): string => {
    const home = mkdtempSync('/var/tmp/phaselock-found-')
    made.push(home)
    return home
  }

  it('[REQ-WALL-18] of PHP the extensions are shown, not its php.ini', () => {
    const { copied } = buildHostView({ HOME: newPlace(), PATH: SYSTEM_PATH })
    const shown = copied.filter((path) => path.startsWith('/etc/php/'))
    expect(shown.filter((path) => !/\/(?:cli\/conf\.d|mods-available)$/.test(path))).toEqual([])
    expect(copied).not.toContain('/etc/php')
    expect(shown.length > 0).toBe(existsSync('/etc/php'))
  })

  it('[REQ-WALL-18] the repository of Maven is shown, its settings are not', () => {
    const home = newPlace()
    write(home, { '.m2/repository/one.jar': 'x', '.m2/settings.xml': SECRET })
    const { shown, variables } = buildHostView({ HOME: home, PATH: SYSTEM_PATH })
    expect(shown.filter((folder) => folder.startsWith(home))).toEqual([join(home, '.m2/repository')])
    expect(variables).toMatchObject({
      MAVEN_OPTS: expect.stringContaining(`-Dmaven.repo.local=${home}/.m2/repository `),
      MAVEN_ARGS: '-o',
    })
  })

  it('[REQ-WALL-18] a variable that names the home or a folder above it shows nothing', () => {
    const home = newPlace()
    for (const folder of ['bin', 'toolchains', 'versions', 'lib', 'registry']) mkdirSync(join(home, folder))
    write(home, { 'bin/java': '' })
    const names = ['CARGO_HOME', 'RUSTUP_HOME', 'PYENV_ROOT', 'NVM_DIR', 'JAVA_HOME', 'GOMODCACHE']
    for (const value of [home, dirname(home), '/', 'relative'])
      for (const name of names) {
        const { shown } = buildHostView({ HOME: home, PATH: `${home}/bin:${SYSTEM_PATH}`, [name]: value })
        expect(shown.filter((folder) => folder === '/' || folder.startsWith('/var'))).toEqual([])
      }
  })

  it('[REQ-WALL-18] a variable that names a folder which cannot be looked into shows nothing', () => {
    const home = newPlace()
    // A link to itself: also root cannot look into it.
    const folder = join(home, 'closed')
    symlinkSync(folder, folder)
    for (const name of ['CARGO_HOME', 'RUSTUP_HOME', 'PYENV_ROOT', 'NVM_DIR', 'JAVA_HOME', 'GOMODCACHE']) {
      const { shown } = buildHostView({ HOME: home, PATH: `${folder}/bin:${SYSTEM_PATH}`, [name]: folder })
      expect(shown.filter((one) => one.startsWith(home))).toEqual([])
    }
  })

  it('[REQ-WALL-18] folders of the PATH that commands do not see are named', () => {
    const home = newPlace()
    mkdirSync(join(home, 'bin'))
    const { hiddenPrograms, path } = buildHostView({ HOME: home, PATH: `${home}/bin:${SYSTEM_PATH}` })
    expect(hiddenPrograms).toEqual([join(home, 'bin')])
    expect(path).not.toContain(home)
  })
})
