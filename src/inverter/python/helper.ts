/** Names that edits may use, without the dollar sign. */
export const OFFERED =
  'value apart far flip pick keep kept over under holder kind anything open quiet regex word shown digits seen step tried expects stand run watch'.split(
    ' ',
  )

/**
 * The helper, run by `exec` in a separate namespace before the first import: it captures the functions it calls there.
 * Both twins do the same work, and choose between the two results at the end.
 */
export const HELPER = `
def $make():
    $type, $len, $range, $isinstance, $issubclass, $setattr, $abs = type, len, range, isinstance, issubclass, setattr, abs
    $bool, $int, $float, $complex, $str, $bytes, $array = bool, int, float, complex, str, bytes, bytearray
    $list, $tuple, $set, $frozen, $dict, $object, $error, $all, $assertion = list, tuple, set, frozenset, dict, object, Exception, BaseException, AssertionError
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
    import os as $os, sys as $sys
    $modules, $library, $getattr, $dir = $sys.modules, $os.__file__[:-5], getattr, dir
    $easy = ($bool, $int, $float, $str, $bytes)
    $kins = ('0123456789', 'abcdef', 'ABCDEF', 'ghijklmnopqrstuvwxyz', 'GHIJKLMNOPQRSTUVWXYZ')
    $codes = $tuple(kin.encode() for kin in $kins)
    def $number(v, how):
        n = v + 1234567 * $by * (1 + $abs(v)) if how == 2 else v + $by * 7368787 if how == 1 else v + $by if v % 1 == 0 else v * (1 + $by / 64)
        if v >= 0 and n < 0: n = -n if how else v - 1 if v else v - $by
        return 0.25 if v == 0.5 else 0.5 if n != n or n == v or v - v != 0 else n
    def $text(v, how, word):
        size = $len(v)
        at = $at % size if size else 0
        if how or not size: return v[:at] + word + v[at:]
        for i in $range(size):
            i = (at + i) % size
            for kin in $kins if $type(v) is $str else $codes:
                here = kin.find(v[i:i + 1])
                if here >= 0: return v[:i] + kin[(here + $abs($by)) % $len(kin):][:1] + v[i + 1:]
        one = word[:1] if v[at:at + 1] != word[:1] else word[1:2] if v[at:at + 1] != word[1:2] else v[:0]
        return v[:at] + one + v[at + 1:]
    $none = $object()
    def $item(v, key):
        if v is $none: return v
        try:
            if $isinstance(v, $dict): return $dict.get(v, key, $never)
            if $isinstance(v, $list): return $list.__getitem__(v, key)
            return $tuple.__getitem__(v, key) if $isinstance(v, $tuple) else $never
        except $error: return $never
    def $unlike(v, actual, deep):
        if actual is $none or deep > 6: return False
        kind = $type(v)
        if kind in $easy: return $type(actual) is not kind or actual != v
        if kind is $list or $isinstance(v, $tuple): return True in [$unlike(v[i], $item(actual, i), deep + 1) for i in $range($len(v))]
        fields, its = (v, actual) if kind is $dict else ($fields(v), $fields(actual))
        return True in [$unlike(fields[key], $item(its, key), deep + 1) for key in fields]
    def $fields(v):
        try: return {**$getattr(v, '__dict__', {})}
        except $error: return {}
    def $choose(size, get, its):
        order = [($at + i) % size for i in $range(size)]
        for i in order:
            if $unlike(get(i), its(i), 0): return i
        for i in order:
            if $type(get(i)) in $easy: return i
        return $at % size
    def $deeper(v, how, deep, actual):
        kind = $type(v)
        if kind is $list or kind is $tuple:
            if not $len(v): return kind([$word])
            items = $list(v)
            i = $choose($len(items), items.__getitem__, lambda i: $item(actual, i))
            items[i] = $change(items[i], how, deep + 1, $item(actual, i))
            return kind(items)
        if kind is $set or kind is $frozen:
            items = $list(v)
            return kind(items[1:] + [$word])
        if kind is $dict:
            keys = $list(v)
            if not keys: return {$word: $word}
            key = keys[$choose($len(keys), lambda i: v[keys[i]], lambda i: $item(actual, keys[i]))]
            return {**v, key: $change(v[key], how, deep + 1, $item(actual, key))}
        if kind is $moment or kind is $day: return v + $span(days=$by)
        if kind is $span: return v + $span(seconds=$by)
        if kind is $exact: return v + $by
        if kind is $pattern: return $compile(v.pattern + ($word if $type(v.pattern) is $str else $word.encode()), v.flags)
        if kind is $type or $isinstance(v, $type):
            return $type('Other', ($error if $issubclass(v, $all) else $object,), {})
        return $another(v, kind, how, deep, actual)
    def $another(v, kind, how, deep, actual):
        if $isinstance(v, $tuple) and $len(v) and '_fields' in $dir(kind): return $tuple.__new__(kind, $deeper($tuple(v), how, deep, actual))
        file = $getattr($modules.get(kind.__module__), '__file__', None) or ''
        if deep > 2 or 'site-packages' in file or file.startswith($library): return $never
        fields = {key: $change(x, how, deep + 1) for key, x in $fields(v).items() if x is not None}
        if not fields or True in [x is $never for x in fields.values()]: return $never
        other = $object.__new__(kind)
        other.__dict__.update({**$fields(v), **fields})
        return other
    def $change(v, how, deep, actual=$none):
        kind = $type(v)
        try:
            if kind is $bool: return not v
            if kind is $int or kind is $float: return $number(v, how)
            if kind is $complex: return v + $by
            if kind is $str: return $text(v, how, $word)
            if kind is $bytes or kind is $array: return kind($text($bytes(v), how, $word.encode()))
            if v is None: return $word
            return $never if deep > 6 else $deeper(v, how, deep, actual)
        except $error:
            return $never
    def $shown(s):
        out = ''
        for i in $range(0, $len(s), 2): out += '#signs'['abcdefghijklmnop'.index(s[i]) * 16 + 'abcdefghijklmnop'.index(s[i + 1])]
        return out
    def $digits(s):
        whole, dot, rest = $shown(s).partition('.')
        n = 0
        for one in whole + rest: n = n * 10 + '0123456789'.index(one)
        return n / 10 ** $len(rest) if dot else n
    $slots = {}
    def $twin(v, other): return other if $is else v
    def $keep(slot, v):
        $slots[slot] = v
        return v
    def $past(slot, v, sign):
        actual = $slots.pop(slot, None)
        step = sign * ($by if $by > 0 else -$by)
        far = v + sign * 1234567 * (1 + $abs(v)) if $type(v) in ($int, $float) else $never
        return $twin(v, far if $type(actual) not in ($int, $float) or actual + step == actual else actual + step)
    def $muted(v):
        def call(*given, **named):
            try: v(*given, **named)
            except $all: pass
        return call
    import functools as $tools, sys as $system, threading as $threads
    $wraps, $frame, $thread, $routine = $tools.wraps, $system._getframe, $threads.get_ident, $type($make)
    $now = [None]
    class $Watch:
        def __init__(self):
            self.on, self.held, self.caught, self.noted, self.count = True, 0, 0, None, 0
            self.thread, self.before, self.expects = $thread(), $now[0], 0
            $now[0] = self
        def end(self, error):
            $now[0], self.on = self.before, False
            if not $is: return error
            line = self.held or error is None and self.caught
            if line: return $error('line %d holds' % line) if #names else None
            return error if self.noted is None else self.noted
    def $current():
        watch = $now[0]
        return watch if watch is not None and watch.on and watch.thread == $thread() and not watch.expects else None
    def $expect(by):
        watch = $now[0]
        if watch is not None and watch.thread == $thread(): watch.expects += by
    def $hold(watch, frame):
        if $is and watch is not None and not watch.held: watch.held = frame.f_lineno
    def $seen(v):
        if v: $hold($current(), $frame(1))
        return v
    class $Tried:
        def __enter__(self): return None
        def __exit__(self, kind, error, trace):
            watch = $current()
            if kind is None: $hold(watch, $frame(1))
            elif $is and watch is not None: watch.caught = $frame(1).f_lineno
            return False
    def $leave(frame, kind, error):
        watch = $current()
        if kind is None: $hold(watch, frame)
        if kind is None or not $is: return False
        if kind.__name__ != 'Failed' and (kind.__name__ == 'SkipTest' or not $issubclass(kind, $error)): return False
        if watch is None or watch.count >= #failures: return #retry == 1
        watch.count += 1
        if watch.noted is None or $isinstance(error, $assertion) and not $isinstance(watch.noted, $assertion): watch.noted = error
        return True
    def $stand(v, catches):
        watch = $current()
        if v: $hold(watch, $frame(1))
        elif $is and catches and watch is not None: watch.caught = $frame(1).f_lineno
        elif $is and not catches: return True if $leave($frame(1), $assertion, $assertion('it does not hold')) else v
        return v
    def $run(routine, catches):
        try: value = routine()
        except $all as error:
            if catches and $is and $current() is not None: $current().caught = $frame(1).f_lineno
            if catches or not $leave($frame(1), $type(error), error): raise
            return None
        $hold($current(), $frame(1))
        return value
    class $Step:
        def __enter__(self): return None
        def __exit__(self, kind, error, trace): return $leave($frame(1), kind, error)
    class $Expects:
        def __enter__(self): $expect(1)
        def __exit__(self, kind, error, trace):
            $expect(-1)
            return $leave($frame(1), kind, error)
    def $around(routine):
        if $type(routine) is not $routine or routine.__code__.co_flags & 544: return routine
        if routine.__code__.co_flags & 128:
            async def call(*given, **named):
                watch, error, value = $Watch(), None, None
                try: value = await routine(*given, **named)
                except $all as caught: error = caught
                error = watch.end(error)
                if error is not None: raise error
                return value
        else:
            def call(*given, **named):
                watch, error, value = $Watch(), None, None
                try: value = routine(*given, **named)
                except $all as caught: error = caught
                error = watch.end(error)
                if error is not None: raise error
                return value
        return $wraps(routine)(call)
    def $watch(space, names):
        for name in names.split(' '):
            *outer, last = name.split('::')
            try:
                holder = None
                for part in outer: holder = space[part] if holder is None else holder.__dict__[part]
                if holder is None: space[last] = $around(space[last])
                else: $setattr(holder, last, $around(holder.__dict__[last]))
            except $error: pass
    return {
        'seen': $seen,
        'step': $Step(),
        'tried': $Tried(),
        'expects': $Expects(),
        'stand': $stand,
        'run': $run,
        'watch': $watch,
        'value': lambda v, slot=None: $twin(v, $change(v, 0, 0, $slots.pop(slot, $none))),
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
        'shown': $shown,
        'digits': $digits,
    }
`
