import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Contract, OwnTool, OwnToolArg } from '../../../src/core/contract/contract.js'
import type { JsonObject } from '../../../src/core/json.js'
import { ownToolCommand } from '../../../src/tools/commands/own-tool.js'
import { describeCall } from '../../../src/tools/describe-call.js'
import { constraint, contractOf, phase, World } from '../../core/world.js'

const arg = (about: Partial<OwnToolArg> = {}): OwnToolArg => ({
  type: 'string',
  path: null,
  description: '',
  optional: false,
  enum: null,
  min: null,
  max: null,
  ...about,
})

function contractWith(command: readonly string[], args: Readonly<Record<string, OwnToolArg>> = {}): Contract {
  const tool: OwnTool = {
    name: 'lint',
    description: '',
    command,
    args: new Map(Object.entries(args)),
    network: false,
    timeoutSeconds: null,
  }
  return contractOf([phase('A', { allowedTools: ['lint'] })], {
    extraTools: ['lint'],
    tools: new Map([['lint', tool]]),
  })
}

const problems = (contract: Contract, args: JsonObject) => describeCall(contract, 'lint', args).argProblems
const argv = (contract: Contract, args: JsonObject) => ownToolCommand(contract, 'lint', args).argv

describe('arguments of an own tool', () => {
  const path = contractWith(['eslint', '{path}'], { path: arg({ path: 'read' }) })
  const level = contractWith(['eslint', '{level}'], { level: arg({ enum: ['fast', 'full', '-q'] }) })
  const count = contractWith(['head', '--lines={n}'], { n: arg({ type: 'integer', min: 1, max: 5 }) })
  const ratio = contractWith(['cut', '--at={n}'], { n: arg({ type: 'number', min: 0.5 }) })
  const flag = contractWith(['run', '{on}'], { on: arg({ type: 'boolean' }) })
  const text = contractWith(['run', '{t}'], { t: arg() })

  it.each<[string, Contract, JsonObject, string]>([
    ['a missing one', path, {}, 'argument "path" is missing'],
    ['an unknown one', path, { path: 'a', fix: true }, 'unknown argument "fix" (known: path)'],
    ['an inherited one', path, JSON.parse('{"path":"a","__proto__":{"x":1}}'), 'unknown argument "__proto__"'],
    ['a number for a text', path, { path: 1 }, 'argument "path" must be a string'],
    ['a list for a text', text, { t: ['a'] }, 'argument "t" must be a string'],
    ['null', text, { t: null }, 'argument "t" must be a string'],
    ['a text for a number', count, { n: '3' }, 'argument "n" must be a whole number'],
    ['a fraction for an integer', count, { n: 1.5 }, 'argument "n" must be a whole number'],
    ['an integer beyond what is exact', count, { n: 2 ** 53 }, 'argument "n" must be a whole number'],
    ['less than the least', count, { n: 0 }, 'argument "n" must be at least 1'],
    ['more than the most', count, { n: 6 }, 'argument "n" must be at most 5'],
    ['a number just below', ratio, { n: 0.49 }, 'argument "n" must be at least 0.5'],
    ['a text for a flag', flag, { on: 'true' }, 'argument "on" must be true or false'],
    ['a value that is not listed', level, { level: 'slow' }, 'argument "level" must be one of fast, full, -q'],
    ['a NUL', text, { t: 'a\0b' }, 'argument "t" contains a NUL character'],
    ['half a character', text, { t: 'a\ud800' }, 'argument "t" is not well-formed Unicode'],
    ['a text that is too long', text, { t: 'x'.repeat(32_769) }, 'argument "t" is longer than 32768 characters'],
  ])('[REQ-OWN-1] %s is named as a problem', (_name, contract, args, expected) => {
    expect(problems(contract, args).join('; ')).toContain(expected)
  })

  it.each<[string, Contract, JsonObject]>([
    ['the least and no less', count, { n: 1 }],
    ['the most and no more', count, { n: 5 }],
    ['a number at its bound', ratio, { n: 0.5 }],
    ['a listed value', level, { level: 'full' }],
    ['a flag', flag, { on: false }],
    ['an empty text', text, { t: '' }],
    ['the longest text', text, { t: 'x'.repeat(32_768) }],
  ])('[REQ-OWN-1] %s is no problem', (_name, contract, args) => {
    expect(problems(contract, args)).toEqual([])
  })

  it('[REQ-OWN-1] an argument named like a member of every object is missing when it is not given', () => {
    const contract = contractWith(['run', '{constructor}'], { constructor: arg() })
    expect(problems(contract, {})).toEqual(['argument "constructor" is missing'])
  })

  it('[REQ-OWN-1] the core refuses what is wrong with the arguments of an own tool', () => {
    const world = new World(path)
    world.claim()
    const call = describeCall(path, 'lint', { path: 'a', fix: true })
    expect(world.tool('lint', call)).toEqual(['tool_denied'])
    expect(world.last()).toMatchObject({ code: 'invalid_request' })
  })
})

describe('paths of an own tool', () => {
  const contract = contractOf(
    [
      phase('A', {
        allowedTools: ['lint'],
        constraints: new Map([['lint', constraint({ allowedPatterns: ['tests/**'] })]]),
      }),
    ],
    { extraTools: ['lint'], tools: contractWith(['eslint', '{path}'], { path: arg({ path: 'write' }) }).tools },
  )

  it.each(['../x', '/etc/passwd', 'a/../../x', 'a\\b', ''])(
    '[REQ-OWN-2] %j is refused as a path whatever the contract says',
    (path) => {
      const world = new World(contract)
      world.claim()
      expect(world.tool('lint', describeCall(contract, 'lint', { path }))).toEqual(['tool_denied'])
      expect(world.last()).toMatchObject({ code: 'constraint_violation' })
    },
  )

  it('[REQ-OWN-2] constraints of the phase hold for the path that is really meant', () => {
    const world = new World(contract)
    world.claim()
    expect(world.tool('lint', describeCall(contract, 'lint', { path: 'tests/../src/a.ts' }))).toEqual(['tool_denied'])
    expect(world.tool('lint', describeCall(contract, 'lint', { path: 'src/../tests/a.ts' }))).toEqual(['tool_allowed'])
    expect(argv(contract, { path: 'src/../tests/a.ts' })).toEqual(['eslint', 'tests/a.ts'])
  })

  it('[REQ-OWN-2] an argument that is not a path is not among the paths', () => {
    const plain = contractWith(['eslint', '{t}'], { t: arg() })
    expect(describeCall(plain, 'lint', { t: '../x' }).paths).toEqual([])
  })
})

describe('the command of an own tool', () => {
  it.each(['-rf', '--config=x', '-'])('[REQ-OWN-3] %j is refused where it would be an option', (t) => {
    const contract = contractWith(['run', '{t}'], { t: arg() })
    expect(problems(contract, { t })).toEqual([
      'argument "t" must not begin with "-": the command would take it for an option',
    ])
    expect(() => argv(contract, { t })).toThrow('wrong arguments')
  })

  it('[REQ-OWN-3] a value behind an empty one is refused where it would be an option', () => {
    const contract = contractWith(['run', '{a}{b}'], { a: arg(), b: arg() })
    expect(problems(contract, { a: '', b: '--x' })).toHaveLength(1)
    expect(problems(contract, { a: 'y', b: '--x' })).toEqual([])
  })

  it('[REQ-OWN-3] a negative number is refused where it would be an option', () => {
    const args = { n: arg({ type: 'integer' }) }
    expect(problems(contractWith(['head', '{n}'], args), { n: -5 })).toHaveLength(1)
    expect(argv(contractWith(['head', '--lines={n}'], args), { n: -5 })).toEqual(['head', '--lines=-5'])
  })

  it('[REQ-OWN-3] an option that the contract lists is passed', () => {
    const contract = contractWith(['run', '{t}'], { t: arg({ enum: ['-q', '-v'] }) })
    expect(argv(contract, { t: '-q' })).toEqual(['run', '-q'])
  })

  it.each([
    ['-rf', './-rf'],
    ['--config=x', './--config=x'],
    ['./-x', './-x'],
    ['a/-x', 'a/-x'],
  ])('[REQ-OWN-3] the path %j is passed as %j', (path, word) => {
    expect(argv(contractWith(['rm', '{path}'], { path: arg({ path: 'write' }) }), { path })).toEqual(['rm', word])
  })

  it('[REQ-OWN-3] a path behind its option stays as it is', () => {
    const contract = contractWith(['rm', '--file={path}'], { path: arg({ path: 'write' }) })
    expect(argv(contract, { path: '-x' })).toEqual(['rm', '--file=-x'])
  })

  it('[REQ-OWN-4] a word with an optional argument that is missing is dropped', () => {
    const contract = contractWith(['run', '--a={a}', '{b}', 'end'], {
      a: arg({ optional: true }),
      b: arg({ optional: true }),
    })
    expect(argv(contract, {})).toEqual(['run', 'end'])
    expect(argv(contract, { b: '' })).toEqual(['run', '', 'end'])
  })

  it('[REQ-OWN-4] what a value says reaches the program as one word, through no shell', () => {
    const contract = contractWith([process.execPath, '-p', 'JSON.stringify(process.argv.slice(1))', 'x={t}'], {
      t: arg(),
    })
    for (const t of ['a b', '$(id)', '`id`', '; rm -rf /', '\'"', 'a\nb', '{t}', '{other}', '*', '~', '\\', '$HOME']) {
      const [program, ...words] = argv(contract, { t })
      expect(JSON.parse(execFileSync(program ?? '', words, { encoding: 'utf8' }))).toEqual([`x=${t}`])
    }
  })

  it('[REQ-OWN-4] any text makes exactly one word that holds it', () => {
    const contract = contractWith(['run', 'x={t}', '{t}', 'end'], { t: arg() })
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (t) => {
        fc.pre(problems(contract, { t }).length === 0)
        expect(argv(contract, { t })).toEqual(['run', `x=${t}`, t, 'end'])
      }),
    )
  })

  it('[REQ-OWN-5] a command whose program is an argument is never run', () => {
    const contract = contractWith(['{t}', 'x'], { t: arg() })
    expect(problems(contract, { t: 'sh' }).join()).toContain('The program itself cannot be an argument')
    expect(() => argv(contract, { t: 'sh' })).toThrow('wrong arguments')
  })

  it.each([['../{path}'], ['src/{path}'], ['{path}.bak'], ['-I{path}'], ['a,{path}']])(
    '[REQ-OWN-5] a path that is joined to other text (%s) is never run',
    (word) => {
      const contract = contractWith(['run', word], { path: arg({ path: 'read' }) })
      expect(problems(contract, { path: 'a' }).join()).toContain('is joined to other text')
    },
  )

  it('[REQ-OWN-6] network and time limit are those of the contract', () => {
    const contract = contractWith(['run'])
    expect(ownToolCommand(contract, 'lint', {})).toEqual({ argv: ['run'], network: false, timeoutSeconds: 60 })
    const tool = contract.tools.get('lint')!
    const other = { ...contract, tools: new Map([['lint', { ...tool, network: true, timeoutSeconds: 5 }]]) }
    expect(ownToolCommand(other, 'lint', {})).toMatchObject({ network: true, timeoutSeconds: 5 })
    expect(() => ownToolCommand(contract, 'other', {})).toThrow('no own tool')
  })
})
