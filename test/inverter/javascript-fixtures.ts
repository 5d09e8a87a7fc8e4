import type { Fixture, FixtureSuite } from './fixture.js'

const CODE = `const add = (a, b) => a + b
const boom = () => { throw new TypeError('bad input') }
const fails = () => Promise.reject(new TypeError('bad input'))
const works = () => Promise.resolve(3)`

const isAsync = (code: string): string => (/\bawait\b/.test(code) ? 'async ' : '')

const NODE_ASSERT: readonly Fixture[] = [
  ['assert.equal(add(1, 2), 3)', 'equal', 'expected'],
  ['assert.equal(3, add(1, 2))', 'equal', 'expected'],
  ["assert.strictEqual('a' + 'b', 'ab')", 'strictEqual', 'expected'],
  ['assert.strict.equal(add(1, 2), 3)', 'equal', 'expected'],
  ["assert['equal'](add(1, 2), 3)", 'equal', 'expected'],
  ["assert.deepEqual({ a: [1, { b: 'x' }] }, { a: [1, { b: 'x' }] })", 'deepEqual', 'expected'],
  ["assert.deepEqual(new Map([['a', 1]]), new Map([['a', 1]]))", 'deepEqual', 'expected'],
  ['assert.deepEqual(new Map(), new Map())', 'deepEqual', 'expected'],
  ['assert.deepEqual(new Set([1, 2]), new Set([1, 2]))', 'deepEqual', 'expected'],
  ['assert.deepEqual(new Date(5), new Date(5))', 'deepEqual', 'expected'],
  ["assert.deepEqual(new RangeError('q'), new RangeError('q'))", 'deepEqual', 'expected'],
  ["assert.deepEqual(Buffer.from('abc'), Buffer.from('abc'))", 'deepEqual', 'expected'],
  ['assert.deepEqual(new Float64Array([1.5]), new Float64Array([1.5]))', 'deepEqual', 'expected'],
  ['assert.deepEqual([], [])', 'deepEqual', 'expected'],
  ['assert.deepEqual({}, {})', 'deepEqual', 'expected'],
  ['assert.deepEqual(/a/g, /a/g)', 'deepEqual', 'expected'],
  ['class P { constructor(x) { this.x = x } } assert.deepEqual(new P(1), new P(1))', 'deepEqual', 'expected'],
  ['assert.equal(5n, 5n)', 'equal', 'expected'],
  ['assert.equal(NaN, Number.NaN)', 'equal', 'expected'],
  ['assert.equal(Infinity, 1 / 0)', 'equal', 'expected'],
  ['assert.equal(1e300 * 10, 1e301)', 'equal', 'expected'],
  ['assert.equal(0.1, 0.1)', 'equal', 'expected'],
  ['assert.equal(null, null)', 'equal', 'expected'],
  ['assert.equal(undefined, undefined)', 'equal', 'expected'],
  ['assert.equal(true, add(1, 1) === 2)', 'equal', 'expected'],
  ["assert.equal('', '')", 'equal', 'expected'],
  ["assert.equal('żółw', 'żółw')", 'equal', 'expected'],
  ["assert.equal(Symbol.for('a'), Symbol.for('a'))", 'equal', 'expected'],
  ['assert.equal(add, [add][0])', 'equal', 'expected'],
  ['assert.notEqual(add(1, 2), 4)', 'notEqual', 'expected_is_actual'],
  ['notStrictEqual(add(1, 2), 4)', 'notStrictEqual', 'expected_is_actual'],
  ['assert.notDeepEqual({ a: 1 }, { a: 2 })', 'notDeepEqual', 'expected_is_actual'],
  ['assert.ok(add(1, 2))', 'ok', 'truth'],
  ['assert(add(1, 2) === 3, "sum")', 'ok', 'truth'],
  ['assert(add(1, 2) === 3 && assert.ok(true) === undefined)', 'ok', 'truth'],
  ["assert.match('hello', /ell/)", 'match', 'expected_apart'],
  ["check('hello', /ell|x/)", 'match', 'expected_apart'],
  ["assert.doesNotMatch('abc', /x/)", 'doesNotMatch', 'negated'],
  ['assert.throws(boom)', 'throws', 'call'],
  ["assert.throws(boom, 'it has to throw')", 'throws', 'call'],
  ['assert.throws(boom, TypeError)', 'throws', 'expected_apart'],
  ['assert.throws(boom, /bad/)', 'throws', 'expected_apart'],
  ["assert.throws(boom, { message: 'bad input' })", 'throws', 'expected_apart'],
  ['assert.throws(boom, (error) => error instanceof TypeError)', 'throws', 'expected_apart'],
  ['assert.doesNotThrow(() => add(1, 2))', 'doesNotThrow', 'call'],
  ['await assert.rejects(fails())', 'rejects', 'call'],
  ['await assert.rejects(fails)', 'rejects', 'call'],
  ["await assert.rejects(fails(), { message: 'bad input' })", 'rejects', 'expected_apart'],
  ['await assert.doesNotReject(works())', 'doesNotReject', 'call'],
  ['assert.ifError(null)', 'ifError', 'actual'],
  ['t.assert.equal(add(1, 2), 3)', 'equal', 'expected'],
  ["if (add(1, 2) !== 3) throw new Error('wrong')", 'if throw', 'truth'],
  ['assert.equal(...[1, 1])', 'equal', { left: 'spread_arguments' }],
  ['const got = add(1, 2); assert.equal(got, got)', 'equal', { left: 'same_on_both_sides' }],
  ['assert.equal(add(1, 2), add(1, 2))', 'equal', { left: 'same_on_both_sides' }],
  ['if (add(1, 2) === 4) assert.fail()', 'fail', { left: 'asserts_nothing' }],
  ['add(1, 2)', null],
]

const JEST: readonly Fixture[] = [
  ['expect(add(1, 2)).toBe(3)', 'toBe', 'expected'],
  ['expect(add(1, 2)).not.toBe(4)', 'toBe', 'expected_is_actual'],
  ['expect(add(1, 2))\n  .not\n  .toBe(4)', 'toBe', 'expected_is_actual'],
  ['expect({ x: 1 }).toEqual({ x: 1 })', 'toEqual', 'expected'],
  ['expect({ x: 1 }).toStrictEqual({ x: 1 })', 'toStrictEqual', 'expected'],
  ['expect({ x: 1, y: 2 }).toMatchObject({ x: 1 })', 'toMatchObject', 'expected'],
  ['expect([1, 2, 3]).toContain(2)', 'toContain', 'expected_apart'],
  ['expect([1, 2, 3]).not.toContain(9)', 'toContain', 'negated'],
  ["expect('abc').toContain('b')", 'toContain', 'expected_apart'],
  ['expect([{ a: 1 }]).toContainEqual({ a: 1 })', 'toContainEqual', 'expected_apart'],
  ["expect('abc').toMatch(/b/)", 'toMatch', 'expected_apart'],
  ['expect(boom).toThrow()', 'toThrow', 'call'],
  ['expect(boom).toThrow(TypeError)', 'toThrow', 'expected_apart'],
  ["expect(boom).toThrow('bad')", 'toThrow', 'expected_apart'],
  ["expect(boom).toThrow(new TypeError('bad input'))", 'toThrow', 'expected_apart'],
  ['expect(() => add(1, 2)).not.toThrow()', 'toThrow', 'call'],
  ['await expect(works()).resolves.toBe(3)', 'toBe', 'expected'],
  ['await expect(works()).resolves.not.toBe(4)', 'toBe', 'negated'],
  ["await expect(fails()).rejects.toThrow('bad')", 'toThrow', 'expected_apart'],
  ['await expect(fails()).rejects.toThrow()', 'toThrow', 'negated'],
  ['expect(add(1, 2)).toBeTruthy()', 'toBeTruthy', 'truth'],
  ['expect(0).not.toBeTruthy()', 'toBeTruthy', 'truth'],
  ['expect(0).toBeFalsy()', 'toBeFalsy', 'truth'],
  ['expect(null).toBeNull()', 'toBeNull', 'actual'],
  ['expect(3).not.toBeNull()', 'toBeNull', 'actual'],
  ['expect(3).toBeDefined()', 'toBeDefined', 'actual'],
  ['expect(undefined).toBeUndefined()', 'toBeUndefined', 'actual'],
  ['expect(NaN).toBeNaN()', 'toBeNaN', 'actual'],
  ['expect(5).toBeGreaterThan(3)', 'toBeGreaterThan', 'bound'],
  ['expect(5).toBeGreaterThanOrEqual(5)', 'toBeGreaterThanOrEqual', 'bound'],
  ['expect(5n).toBeLessThan(6n)', 'toBeLessThan', 'bound'],
  ['expect(2).not.toBeGreaterThan(3)', 'toBeGreaterThan', 'negated'],
  ['expect(0.1 + 0.2).toBeCloseTo(0.3)', 'toBeCloseTo', 'expected_far'],
  ['expect(104).toBeCloseTo(100, -1)', 'toBeCloseTo', 'expected_far'],
  ['expect([]).toHaveLength(0)', 'toHaveLength', 'expected'],
  ["expect({ a: { b: 1 } }).toHaveProperty('a.b', 1)", 'toHaveProperty', 'expected_apart'],
  ["expect({ a: { b: 1 } }).toHaveProperty('a.b')", 'toHaveProperty', 'expected_apart'],
  ['expect(new Map()).toBeInstanceOf(Map)', 'toBeInstanceOf', 'expected'],
  ['expect({ id: 5 }).toEqual({ id: expect.any(Number) })', 'toEqual', 'expected'],
  ["expect({ id: 5, n: 'x' }).toEqual(expect.objectContaining({ id: 5 }))", 'toEqual', 'expected'],
  ["expect('abc').toEqual(expect.stringContaining('b'))", 'toEqual', 'expected'],
  ['const f = spy(); f(1); expect(f).toHaveBeenCalled()', 'toHaveBeenCalled', 'negated'],
  ['const f = spy(); expect(f).not.toHaveBeenCalled()', 'toHaveBeenCalled', 'negated'],
  ["const f = spy(); f(1, 'a'); expect(f).toHaveBeenCalledWith(1, 'a')", 'toHaveBeenCalledWith', 'expected'],
  ['const f = spy(); f(); expect(f).toHaveBeenCalledWith()', 'toHaveBeenCalledWith', 'negated'],
  ['const f = spy(); f(); expect(f).toHaveBeenCalledTimes(1)', 'toHaveBeenCalledTimes', 'expected'],
  ['const f = spy(); f(7); expect(f).toHaveBeenNthCalledWith(1, 7)', 'toHaveBeenNthCalledWith', 'expected'],
  ['expect(...[1]).toBe(1)', 'toBe', 'negated'],
  ['expect(\'a\').toMatchInlineSnapshot(`"a"`)', 'toMatchInlineSnapshot', 'actual'],
  ['expect(add(1, 2))', 'expect', { left: 'asserts_nothing' }],
  ['add(1, 2)', null],
]

const CHAI: readonly Fixture[] = [
  ['expect(3).to.equal(3)', 'equal', 'expected'],
  ['expect(3).to.not.equal(4)', 'equal', 'expected_is_actual'],
  ['expect({ a: 1 }).to.deep.equal({ a: 1 })', 'equal', 'expected'],
  ['expect({ a: 1 }).to.eql({ a: 1 })', 'eql', 'expected'],
  ['expect(true).to.be.true', 'true', 'actual'],
  ['expect(1).to.not.be.true', 'true', 'actual'],
  ['expect(1).to.be.ok', 'ok', 'truth'],
  ['expect(3).to.be.above(2)', 'above', 'bound'],
  ['expect(3).to.be.at.most(3)', 'most', 'bound'],
  ['expect([1, 2]).to.have.members([2, 1])', 'members', 'expected_apart'],
  ['expect([1, 2]).to.include.members([2])', 'members', 'expected_apart'],
  ["expect('abc').to.include('b')", 'include', 'expected_apart'],
  ["expect({ a: 1 }).to.have.keys('a')", 'keys', 'expected_apart'],
  ['expect(boom).to.throw()', 'throw', 'call'],
  ['expect(boom).to.throw(TypeError, /bad/)', 'throw', 'expected_apart'],
  ['expect(() => add(1, 2)).to.not.throw()', 'throw', 'call'],
  ["expect({ a: 1 }).to.have.property('a').that.equals(1)", 'property', 'expected_apart'],
  ["expect([]).to.be.an('array')", 'an', 'expected'],
  ['expect([1]).to.have.lengthOf(1)', 'lengthOf', 'expected'],
  ['expect([]).to.be.empty', 'empty', 'actual'],
  ['expect(1).to.exist', 'exist', 'actual'],
  ['expect(1).to.be.oneOf([1, 2])', 'oneOf', 'negated'],
  ['expect(1).to.be.within(1, 2)', 'within', 'negated'],
  ['expect(1.01).to.be.closeTo(1, 0.1)', 'closeTo', 'expected_far'],
  ['expect(4).to.satisfy((n) => n === 4)', 'satisfy', 'expected'],
  ['expect(new Map()).to.be.instanceOf(Map)', 'instanceOf', 'expected'],
  ['assert.equal(1, 1)', 'equal', 'expected'],
  ['assert(add(1, 1) === 2)', 'ok', 'truth'],
  ['assert.isNull(null)', 'isNull', 'actual'],
  ['assert.isDefined(1)', 'isDefined', 'actual'],
  ['assert.isString("a")', 'isString', 'actual'],
  ['assert.isTrue(add(1, 1) === 2)', 'isTrue', 'truth'],
  ['assert.lengthOf([1, 2], 2)', 'lengthOf', 'expected'],
  ['assert.throws(boom, TypeError)', 'throws', 'expected_apart'],
  ["assert.include('abc', 'b')", 'include', 'expected_apart'],
  ["assert.notInclude('abc', 'z')", 'notInclude', 'negated'],
  ['assert.isAbove(5, 2)', 'isAbove', 'bound'],
  ["assert.propertyVal({ a: 1 }, 'a', 1)", 'propertyVal', 'expected'],
  ['assert.sameMembers([1, 2], [2, 1])', 'sameMembers', 'expected_apart'],
  ['assert.closeTo(1.01, 1, 0.1)', 'closeTo', 'expected_far'],
  ['assert.isExtensible({})', 'isExtensible', { left: 'no_rule' }],
  ['add(1, 2)', null],
]

const SHOULD: readonly Fixture[] = [
  ["'abc'.should.equal('abc')", 'equal', 'expected'],
  ["'abc'.should.not.equal('abd')", 'equal', 'negated'],
  ['[1].should.have.lengthOf(1)', 'lengthOf', 'expected'],
  ['true.should.be.true', 'true', 'negated'],
  ["'abc'.should.be.a('string')", 'a', 'expected'],
]

const TAPE: readonly Fixture[] = [
  ['t.equal(add(1, 2), 3)', 'equal', 'expected'],
  ['t.notEqual(add(1, 2), 4)', 'notEqual', 'expected_is_actual'],
  ['t.deepEqual({ a: [1] }, { a: [1] })', 'deepEqual', 'expected'],
  ['t.ok(add(1, 2))', 'ok', 'truth'],
  ['t.notOk(add(0, 0))', 'notOk', 'truth'],
  ['t.throws(boom)', 'throws', 'call'],
  ['t.throws(boom, /bad/)', 'throws', 'expected_apart'],
  ['t.doesNotThrow(() => add(1, 2))', 'doesNotThrow', 'call'],
  ["t.match('abc', /b/)", 'match', 'expected_apart'],
  ["t.doesNotMatch('abc', /z/)", 'doesNotMatch', 'negated'],
  ['t.error(null)', 'error', 'actual'],
  ["t.pass('fine')", 'pass', { left: 'asserts_nothing' }],
]

const AVA: readonly Fixture[] = [
  ['t.is(add(1, 2), 3)', 'is', 'expected'],
  ['t.not(add(1, 2), 4)', 'not', 'expected_is_actual'],
  ['t.deepEqual({ a: [1] }, { a: [1] })', 'deepEqual', 'expected'],
  ['t.true(add(1, 2) === 3)', 'true', 'truth'],
  ['t.truthy(add(1, 2))', 'truthy', 'truth'],
  ['t.throws(boom)', 'throws', 'call'],
  ['t.throws(boom, { instanceOf: TypeError })', 'throws', 'expected_apart'],
  ['await t.throwsAsync(fails())', 'throwsAsync', 'call'],
  ['t.notThrows(() => add(1, 2))', 'notThrows', 'call'],
  ["t.regex('abc', /b/)", 'regex', 'expected_apart'],
  ["t.notRegex('abc', /z/)", 'notRegex', 'negated'],
  ["t.pass('fine')", 'pass', { left: 'asserts_nothing' }],
]

export const NODE_SUITE: FixtureSuite = {
  ...{ name: 'node:test', library: 'node:assert', path: 'suite.test.mjs', fixtures: NODE_ASSERT },
  preamble: `import assert, { match as check, notStrictEqual } from 'node:assert/strict'\nimport test from 'node:test'\n${CODE}`,
  wrap: (code, name) => `test('${name}', ${isAsync(code)}(t) => { ${code} })`,
}

export const COMMONJS_SUITE: FixtureSuite = {
  ...NODE_SUITE,
  ...{ name: 'node:test with require', path: 'suite.test.cjs' },
  preamble: `#!/usr/bin/env node\n'use strict'\nconst assert = require('node:assert').strict\nconst { match: check, notStrictEqual } = require('assert')\nconst test = require('node:test')\n${CODE}`,
}

export const VITEST_SUITE: FixtureSuite = {
  ...{ name: 'vitest', library: 'vitest', path: 'suite.test.ts', fixtures: [...JEST, ...CHAI] },
  preamble: `// @vitest-environment node\nimport { assert, expect, it, vi as runner } from 'vitest'\nconst spy = () => runner.fn()\n${CODE.replaceAll('(a, b)', '(a: number, b: number)')}`,
  wrap: (code, name) => `it('${name}', ${isAsync(code)}() => { ${code} })`,
}

export const JEST_SUITE: FixtureSuite = {
  ...{ name: 'jest', library: 'jest', path: 'suite.test.js', fixtures: JEST },
  preamble: `const spy = () => jest.fn()\n${CODE}`,
  wrap: (code, name) => `it('${name}', ${isAsync(code)}() => { ${code} })`,
}

export const MOCHA_SUITE: FixtureSuite = {
  ...{ name: 'mocha with chai', library: 'chai', path: 'suite.spec.mjs', fixtures: [...CHAI, ...SHOULD] },
  preamble: `import { assert, expect, should } from 'chai'\nshould()\n${CODE}`,
  wrap: (code, name) => `it('${name}', ${isAsync(code)}() => { ${code} })`,
}

export const TAPE_SUITE: FixtureSuite = {
  ...{ name: 'tape', library: 'tape', path: 'suite.test.mjs', fixtures: TAPE },
  preamble: `import test from 'tape'\n${CODE}`,
  // tape reports assertions, not tests: each gets the name as its message.
  wrap: (code, name) =>
    `test('${name}', (t) => { ${code.replace(/(, |\()?('fine')?\)$/, (_, sign) => `${sign === '(' ? '(' : ', '}'${name}')`)}; t.end() })`,
}

export const AVA_SUITE: FixtureSuite = {
  ...{ name: 'ava', library: 'ava', path: 'suite.test.mjs', fixtures: AVA },
  preamble: `import test from 'ava'\n${CODE}`,
  wrap: (code, name) => `test('${name}', ${isAsync(code)}(t) => { ${code} })`,
}
