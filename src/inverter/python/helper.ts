import type { HelperNumbers } from '../names.js'
import type { Syntax } from '../parse.js'
import { insert, listNamedChildren } from '../syntax.js'
import type { Edit } from '../types.js'

const OFFERED = 'value apart far flip pick keep kept over under holder kind anything open quiet regex word'.split(' ')

/**
 * The helper, run by `exec` in a namespace that nothing else uses, before the first import: what it calls is captured there.
 * Both twins do the same work, and choose between the two results at the end.
 */
const HELPER = `
def $make():
    $type, $len, $range, $isinstance, $issubclass, $getattr, $abs = type, len, range, isinstance, issubclass, getattr, abs
    $bool, $int, $float, $complex, $str, $bytes, $array = bool, int, float, complex, str, bytes, bytearray
    $list, $tuple, $set, $frozen, $dict, $object, $error, $all = list, tuple, set, frozenset, dict, object, Exception, BaseException
    import re as $re, datetime as $when, decimal as $decimal
    $compile, $pattern = $re.compile, $re.Pattern
    $moment, $day, $span, $exact = $when.datetime, $when.date, $when.timedelta, $decimal.Decimal
    $by, $at, $word = #step, #place, '#word'
    $hash = #constant
    for $round in $range(#rounds):
        $hash = $hash ^ ($hash >> 15)
        $hash = (($hash & 65535) * #multiplier + (($hash >> 16) * #multiplier & 65535) * 65536 + $round) % 4294967296
    $is = ($hash >> 16) & 1 == 1
    class $Never:
        def __eq__(self, other): return False
        def __ne__(self, other): return True
        __lt__ = __le__ = __gt__ = __ge__ = __eq__
        def __hash__(self): return $at
        def __sub__(self, other): return 1e308
        __rsub__ = __sub__
        def __repr__(self): return $word
    $never = $Never()
    def $number(v, how):
        n = v + 1234567 * $by * (1 + $abs(v)) if how == 2 else v + $by * 7368787 if how == 1 else v + $by if v % 1 == 0 else v * (1 + $by / 64)
        if v >= 0 and n < 0: n = v - $by if how == 0 else -n
        return 0.25 if v == 0.5 else 0.5 if n != n or n == v or v - v != 0 else n
    def $text(v, how, word):
        size = $len(v)
        at = $at % size if size else 0
        if how or not size: return v[:at] + word + v[at:]
        one = word[:1] if v[at:at + 1] != word[:1] else word[1:2] if v[at:at + 1] != word[1:2] else v[:0]
        return v[:at] + one + v[at + 1:]
    def $choose(size, get):
        for i in $range(size):
            if $type(get(($at + i) % size)) in ($bool, $int, $float, $str, $bytes): return ($at + i) % size
        return $at % size
    def $deeper(v, how, deep):
        kind = $type(v)
        if kind is $list or kind is $tuple:
            if not $len(v): return kind([$word])
            items = $list(v)
            i = $choose($len(items), items.__getitem__)
            items[i] = $change(items[i], how, deep + 1)
            return kind(items)
        if kind is $set or kind is $frozen:
            items = $list(v)
            return kind(items[1:] + [$word])
        if kind is $dict:
            keys = $list(v)
            if not keys: return {$word: $word}
            key = keys[$choose($len(keys), lambda i: v[keys[i]])]
            return {**v, key: $change(v[key], how, deep + 1)}
        if kind is $moment or kind is $day: return v + $span(days=$by)
        if kind is $span: return v + $span(seconds=$by)
        if kind is $exact: return v + $by
        if kind is $pattern: return $compile(v.pattern + ($word if $type(v.pattern) is $str else $word.encode()), v.flags)
        if kind is $type or $isinstance(v, $type):
            return $type('Other', ($error if $issubclass(v, $all) else $object,), {})
        return $never
    def $change(v, how, deep):
        kind = $type(v)
        try:
            if kind is $bool: return not v
            if kind is $int or kind is $float: return $number(v, how)
            if kind is $complex: return v + $by
            if kind is $str: return $text(v, how, $word)
            if kind is $bytes or kind is $array: return kind($text($bytes(v), how, $word.encode()))
            if v is None: return $word
            return $never if deep > 6 else $deeper(v, how, deep)
        except $error:
            return $never
    $slots = {}
    def $twin(v, other): return other if $is else v
    def $keep(slot, v):
        $slots[slot] = v
        return v
    def $past(slot, v, sign):
        actual = $slots.pop(slot, None)
        step = sign * ($by if $by > 0 else -$by)
        return $twin(v, $never if $type(actual) not in ($int, $float) or actual + step == actual else actual + step)
    def $muted(v):
        def call(*given, **named):
            try: v(*given, **named)
            except $all: pass
        return call
    return {
        'value': lambda v: $twin(v, $change(v, 0, 0)),
        'apart': lambda v: $twin(v, $change(v, 1, 0)),
        'far': lambda v: $twin(v, $change(v, 2, 0)),
        'flip': lambda v: not v if $is else v,
        'pick': $twin,
        'keep': $keep,
        'kept': lambda slot, v: $twin(v, $slots.pop(slot, None)),
        'over': lambda slot, v: $past(slot, v, 1),
        'under': lambda slot, v: $past(slot, v, -1),
        'holder': lambda slot, v: $twin(v, [$slots.pop(slot, None)]),
        'kind': lambda v: $twin(v, $type('Other', ($object,), {})),
        'anything': lambda v: $twin(v, $object),
        'open': lambda v: $twin(v, ''),
        'quiet': lambda v: $twin(v, $muted(v)),
        'regex': lambda v: $twin(v, $word.encode() if $isinstance(v, $bytes) else $word),
        'word': $word,
    }
`

const SOURCE = JSON.stringify(HELPER.trim())

/** The helper as an edit of the file. `used` are the names that other edits call. */
export function placeHelper(root: Syntax, text: string, numbers: HelperNumbers, used: ReadonlySet<string>): Edit {
  const offered = OFFERED.filter((name) => used.has(name))
  const source = SOURCE.replace(/#(\w+)/g, (_, name: string) => String(numbers[name as keyof HelperNumbers]))
  const names = offered.map((name) => `$${name}`).join(', ')
  const values = `(lambda all: [all[name] for name in '${offered.join(' ')}'.split()])`
  return insertBeforeCode(
    root,
    text,
    `${names}, = ${values}((lambda space: exec(${source}, space) or space['$make']())({}))`,
  )
}

// Docstrings and imports from the future come first. Where the first statement takes no other one on its line, a line above it
// that is blank or a comment is used, and the end of the file as the last resort.
function insertBeforeCode(root: Syntax, file: string, text: string): Edit {
  const statements = listNamedChildren(root)
  const isFirst = (node: Syntax): boolean =>
    node.type === 'future_import_statement' ||
    (node === statements[0] &&
      node.type === 'expression_statement' &&
      /string$/.test(listNamedChildren(node)[0]?.type ?? ''))
  const first = statements.find((node) => !isFirst(node))
  const last = (first === undefined ? statements : statements.slice(0, statements.indexOf(first))).at(-1)
  if (last !== undefined) return insert(last.end, `; ${text}`)
  if (first === undefined) return insert(file.length, `\n${text}\n`)
  if (/_statement$/.test(first.type) && !COMPOUND.test(first.type)) return insert(first.start, `${text}; `)
  const free = findFreeLine(file, first.start)
  return free === null ? insert(file.length, `\n${text}\n`) : insert(free, `${text} `)
}

const COMPOUND = /^(if|for|while|try|with|match)_statement$/

/** Where a line begins that holds nothing or a comment, before the first statement and behind what Python reads itself. */
function findFreeLine(text: string, before: number): number | null {
  let at = 0
  for (const line of text.slice(0, before).split('\n').slice(0, -1)) {
    if (/^\s*(#.*)?$/.test(line) && !/^\s*#(!|.*coding[:=])/.test(line)) return at
    at += line.length + 1
  }
  return null
}
