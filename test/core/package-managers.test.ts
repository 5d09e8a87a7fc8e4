import { describe, expect, it } from 'vitest'
import {
  findInstalledAt,
  findInstallProblem,
  isDependencyPart,
  listInstallInputs,
  mentionsInstall,
  saysNoNetwork,
} from '../../src/core/dependencies/package-managers.js'

describe('commands that install dependencies', () => {
  it('[REQ-INSTALL-4] refuses anything but words of a known package manager', () => {
    for (const command of [
      [],
      [''],
      ['sh', '-c', 'npm install x'],
      ['npm'],
      ['npm', 'run', 'build'],
      ['npm', '--prefix', '/', 'install'],
      ['npx', 'x'],
      ['/usr/bin/npm', 'install', 'x'],
      ['constructor', 'install'],
      ['uv', 'pip', 'freeze'],
      ['uv', 'run', 'x'],
      ['go', 'mod', 'edit', '-replace=a=b'],
      ['go', 'run', 'x'],
      ['cargo', 'install', 'x'],
      ['npm', 'install', 'x', ';', 'id'],
      ['npm', 'install', 'x;'],
      ['npm', 'install', '`id`'],
      ['npm', 'install', 'x\ny'],
      ['npm', 'install', ...Array.from({ length: 50 }, () => 'x')],
      ['npm', 'install', 'x'.repeat(301)],
    ])
      expect(findInstallProblem(command), command.join(' ')).toEqual(expect.any(String))
  })

  it('takes installs of every package manager', () => {
    for (const line of [
      'npm i -D @types/node@^22.0.0',
      'pnpm add zod',
      'yarn add zod',
      'bun add zod',
      'pip install requests>=2,<3',
      'uv pip install x[y]==1.0',
      'poetry add --group dev pytest',
      'go get example.org/x@v1.2.3',
      'go mod tidy',
      'cargo add serde --features derive',
      'mvn dependency:resolve',
      'bundle add rack',
      'composer require a/b:^2',
      'dotnet add package X',
    ])
      expect(findInstallProblem(line.split(' ')), line).toBeNull()
  })

  it('tells dependencies from everything else', () => {
    for (const [program, path] of [
      ['npm', 'src/index.js'],
      ['npm', '.npmrc'],
      ['npm', 'package.json.js'],
      ['npm', 'my_node_modules/x'],
      ['npm', 'vendor/x'],
      ['npm', 'requirements.txt'],
      ['pip', 'src/requirements.py'],
      ['go', 'main.go'],
      ['cargo', 'build.rs'],
      ['bundle', 'vendor/other/x'],
      ['sh', 'package.json'],
    ] as const)
      expect(findInstalledAt(program, path), `${program} ${path}`).toBeNull()
    expect(findInstalledAt('npm', 'web/package.json')).toEqual({ kind: 'manifest', at: 'web/package.json' })
    expect(findInstalledAt('npm', 'web/node_modules/a/node_modules/b/c.js')).toEqual({
      ...{ kind: 'packages', at: 'web/node_modules/a/node_modules' },
    })
    expect(findInstalledAt('uv', '.venv/bin/python')).toEqual({ kind: 'packages', at: '.venv' })
    expect(findInstalledAt('go', 'go.sum')).toEqual({ kind: 'manifest', at: 'go.sum' })
  })

  it('[REQ-INSTALL-3] takes only parts of the test setup that name dependencies', () => {
    for (const [path, part] of [
      ['package.json', 'scripts.test'],
      ['package.json', ''],
      ['pyproject.toml', '[tool.pytest.ini_options]'],
      ['pyproject.toml', '[build-system]'],
      ['src/dependencies', '[dependencies]'],
    ] as const)
      for (const program of ['npm', 'uv']) expect(isDependencyPart(program, path, part), `${path} ${part}`).toBe(false)
    expect(isDependencyPart('cargo', 'Cargo.toml', '[dev-dependencies]')).toBe(true)
    expect(isDependencyPart('go', 'go.mod', 'everything but require')).toBe(true)
    expect(isDependencyPart('uv', 'pyproject.toml', '[tool.uv.sources]')).toBe(true)
    expect(isDependencyPart('poetry', 'pyproject.toml', '[tool.poetry.group.dev.dependencies]')).toBe(true)
  })

  it('[REQ-INSTALL-5] recognises an install in a shell line, and an output that had no network', () => {
    for (const line of [
      'npm test',
      'echo npm-install',
      'npm run install-hooks',
      'git commit -m "add npm"',
      'cargo build',
    ])
      expect(mentionsInstall(line), line).toBe(false)
    expect(mentionsInstall('cd web && npm install zod')).toBe(true)
    expect(mentionsInstall('.venv/bin/pip install x')).toBe(true)
    expect(mentionsInstall('python -m pip install x')).toBe(true)
    expect(mentionsInstall('(uv  pip install x)')).toBe(true)
    expect(mentionsInstall('npx create-thing')).toBe(true)
    expect(saysNoNetwork('npm error code ENOTCACHED')).toBe(true)
    expect(saysNoNetwork('module lookup disabled by GOPROXY=off')).toBe(true)
    expect(saysNoNetwork('npm error 3 tests failed')).toBe(false)
  })

  it('[REQ-INSTALL-1] finds the files that decide what a command installs', () => {
    const entries = Object.fromEntries(
      ['package.json', 'web/package.json', 'src/a.js', 'packed/a.tgz', 'own/b/index.js', 'dev.txt', 'zod.md'].map(
        (path) => [path, `file ${path}`],
      ),
    )
    const find = (words: readonly string[], cwd = '.') => Object.keys(listInstallInputs(entries, words, cwd))
    const manifests = ['package.json', 'web/package.json']
    expect(find(['npm', 'install', 'zod'])).toEqual(manifests)
    expect(find(['npm', 'install', './packed/a.tgz'])).toEqual(['package.json', 'packed/a.tgz', 'web/package.json'])
    expect(find(['npm', 'install', 'a@file:../own/b'], 'web')).toEqual(['own/b/index.js', ...manifests])
    expect(find(['pip', 'install', '--requirement=dev.txt'])).toEqual(['dev.txt', ...manifests])
    expect(find(['pip', 'install', '-r', 'dev.txt'])).toEqual(['dev.txt', ...manifests])
    expect(find(['npm', 'install', '../../outside'])).toEqual(manifests)
  })
})
