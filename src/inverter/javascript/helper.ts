import type { HelperNumbers } from '../names.js'
import type { Syntax } from '../parse.js'
import { insert, listNamedChildren } from '../syntax.js'
import type { Edit, Language } from '../types.js'

/** Names that edits may use, without the dollar sign. */
const OFFERED = [
  ...'value apart far flip pick negate restore keep kept over under quiet loud settled broken word shown digits'.split(
    ' ',
  ),
  ...'open held failed tried run caught close called'.split(' '),
]

/**
 * The helper, on one line before the first statement: it captures the functions it calls there, out of reach of other
 * modules. `$name` becomes a random name, `@any` a type in typed languages. Both twins call the same functions in the
 * same order and choose between the two results with operators alone, so that a replaced function learns nothing from
 * its calls. Plain values are changed without any call.
 */
const HELPER = `
const {#offered}@any = (() => {
  const {getPrototypeOf: $protoOf, getOwnPropertyDescriptors: $describe, getOwnPropertyDescriptor: $describeOne, create: $create,
    setPrototypeOf: $setProto, defineProperties: $define, defineProperty: $defineOne, keys: $keys, prototype: $plain}@any = Object;
  const {isArray: $isArray}@any = Array, {isView: $isView}@any = ArrayBuffer, {apply: $apply}@any = Reflect;
  const $Er@any = Error, $Da@any = Date, $Ma@any = Map, $Se@any = Set, $Re@any = RegExp, $Bi@any = BigInt;
  const $time@any = $Da.prototype.getTime, $eachOf@any = $Ma.prototype.forEach, $eachIn@any = $Se.prototype.forEach;
  const $copyBytes@any = $protoOf(Uint8Array.prototype).slice, $put@any = $Ma.prototype.set, $add@any = $Se.prototype.add;
  const $source@any = Function.prototype.toString, $iterator@any = Symbol.iterator;
  const $by@any = #step, $at@any = #place, $word@any = '#word';
  let $hash@any = #constant;
  for (let $round = 0; $round < #rounds; $round++) {
    $hash = ($hash ^ ($hash >>> 15)) >>> 0;
    $hash = (($hash & 65535) * #multiplier + (($hash >>> 16) * #multiplier & 65535) * 65536 + $round) % 4294967296;
  }
  const $is = (($hash >>> 16) & 1) === 1;
  const $number = ($v@any, $how@any) => {
    let $n = $how === 2 ? $v + 1234567 * $by * (1 + ($v < 0 ? -$v : $v)) : $how === 1 ? $v + $by * 0.37109375 : $v % 1 === 0 ? $v + $by : $v * (1 + $by / 64);
    if ($v >= 0 && $n < 0) $n = $how === 0 ? $v - ($v > 0 ? 1 : $by) : -$n;
    return $n !== $n || $n === $v || $v - $v !== 0 ? ($v === 0.5 ? 0.25 : 0.5) : $n;
  };
  const $near = ($c@any) => {
    for (let $k = 0; $k < 5; $k++) {
      const $kin@any = ['0123456789', 'abcdef', 'ABCDEF', 'ghijklmnopqrstuvwxyz', 'GHIJKLMNOPQRSTUVWXYZ'][$k];
      for (let $i = 0; $i < $kin.length; $i++) if ($kin[$i] === $c) return $kin[($i + ($by < 0 ? -$by : $by)) % $kin.length];
    }
    return '';
  };
  const $string = ($v@any, $how@any) => {
    const $size = $v.length;
    let $p = $size === 0 ? 0 : $at % $size, $out = '', $i = 0;
    if ($how !== 0 || $size === 0) {
      for (; $i < $p; $i++) $out += $v[$i];
      $out += $word;
      for (; $i < $size; $i++) $out += $v[$i];
      return $out;
    }
    for (let $n = 0; $n < $size; $n++) {
      const $q = ($p + $n) % $size, $other = $near($v[$q]);
      if ($other === '') continue;
      for (; $i < $size; $i++) $out += $i === $q ? $other : $v[$i];
      return $out;
    }
    while ($p < $size && !($v[$p] >= ' ' && $v[$p] <= '~')) $p++;
    if ($p === $size) return $v + $word;
    for (; $i < $size; $i++) $out += $i === $p ? ($v[$i] === $word[0] ? ($word[0] === 'q' ? 'w' : 'q') : $word[0]) : $v[$i];
    return $out;
  };
  const $routine = ($v@any) => {
    const $own = $describeOne($v, 'prototype');
    if ($own !== undefined && ($v === $Er || $own.value instanceof $Er)) { class $Other extends $Er {} return $Other; }
    if ($own !== undefined && !$own.writable) { class $Other {} return $Other; }
    return function (@this...$given@any) { return !$apply($v, this, $given); };
  };
  const $easy = ($v@any) => $v === null || (typeof $v !== 'object' && typeof $v !== 'function' && typeof $v !== 'symbol');
  const $none@any = {__proto__: null};
  const $part = ($v@any, $name@any)@any => {
    if ($v === $none) return $v;
    try { const $own = $describeOne($v, $name); return $own === undefined ? undefined : $own.value; } catch { return undefined; }
  };
  const $unlike = ($v@any, $a@any, $deep@any)@any => {
    if ($a === $none || $deep > 6) return false;
    if ($easy($v)) return $a !== $v && ($a === $a || $v === $v);
    if (typeof $v !== 'object' || typeof $v.asymmetricMatch === 'function') return false;
    const $names = $keys($v);
    for (let $i = 0; $i < $names.length && $i < 1000; $i++) if ($unlike($part($v, $names[$i]), $part($a, $names[$i]), $deep + 1)) return true;
    return false;
  };
  const $choose = ($size@any, $of@any, $its@any) => {
    for (let $i = 0; $i < $size; $i++) if ($unlike($of(($at + $i) % $size), $its(($at + $i) % $size), 0)) return ($at + $i) % $size;
    for (let $i = 0; $i < $size; $i++) if ($easy($of(($at + $i) % $size))) return ($at + $i) % $size;
    return $at % $size;
  };
  const $isHidden = ($v@any, $proto@any) => {
    if ($proto === null || $proto === $plain || typeof $proto.constructor !== 'function' || typeof $v[$iterator] === 'function') return false;
    const $text = $apply($source, $proto.constructor, []);
    for (let $i = 0; $i < $text.length; $i++) if ($text[$i] === '#') return true;
    return false;
  };
  const $object = ($v@any, $how@any, $deep@any, $a@any)@any => {
    if (typeof $v.asymmetricMatch === 'function') return $create($v, {asymmetricMatch: {value: ($other@any) => !$v.asymmetricMatch($other)}});
    if ($isArray($v)) {
      const $out@any = [], $size = $v.length, $i = $size === 0 ? 0 : $choose($size, ($n@any) => $v[$n], ($n@any) => $part($a, $n));
      for (let $n = 0; $n < $size; $n++) $out[$n] = $v[$n];
      $out[$i] = $size === 0 ? $word : $change($v[$i], $how, $deep + 1, $part($a, $i));
      return $out;
    }
    if ($v instanceof $Da) { const $t = $apply($time, $v, []); return new $Da($t === $t ? $t + $by * 1000 : 0); }
    if ($v instanceof $Re) return new $Re('(?:' + $v.source + ')' + $word, $v.flags);
    if ($isView($v) && $v.length > 0) { const $out = $apply($copyBytes, $v, []), $i = $at % $out.length; $out[$i] = typeof $out[$i] === 'bigint' ? $out[$i] + $Bi(1) : $out[$i] > 0 ? $out[$i] - 1 : $out[$i] + 1; return $out; }
    if ($v instanceof $Ma) {
      const $out = new $Ma(), $size = $v.size; let $n = 0;
      $apply($eachOf, $v, [($x@any, $k@any) => { $apply($put, $out, [$k, $n++ === $at % $size ? $change($x, $how, $deep + 1, $none) : $x]); }]);
      if ($size === 0) $apply($put, $out, [$word, $word]);
      return $out;
    }
    if ($v instanceof $Se) {
      const $out = new $Se(), $size = $v.size; let $n = 0;
      $apply($eachIn, $v, [($x@any) => { $apply($add, $out, [$n++ === $at % $size ? $change($x, 1, $deep + 1, $none) : $x]); }]);
      if ($size === 0) $apply($add, $out, [$word]);
      return $out;
    }
    const $all = $describe($v), $names = $keys($v), $proto = $protoOf($v);
    if ($v instanceof $Er) {
      const $out = new $Er($string('' + $v.message, $how));
      delete $all.message; delete $all.stack;
      return $setProto($define($out, $all), $proto);
    }
    if ($names.length === 0 && $isHidden($v, $proto)) return $create($proto);
    if ($names.length === 0) return $proto === $plain || $proto === null ? $defineOne($create($proto), $word, {value: $word, enumerable: true, configurable: true, writable: true}) : {[$word]: $word};
    const $name = $names[$choose($names.length, ($n@any) => $all[$names[$n]].value, ($n@any) => $part($a, $names[$n]))];
    $all[$name] = {value: $change($all[$name].value, $how, $deep + 1, $part($a, $name)), enumerable: true, configurable: true, writable: true};
    return $create($proto, $all);
  };
  const $change = ($v@any, $how@any, $deep@any, $a@any)@any => {
    switch (typeof $v) {
      case 'number': return $number($v, $how);
      case 'string': return $string($v, $how);
      case 'boolean': return !$v;
      case 'bigint': return $v + $Bi($by * ($how === 2 ? 1234567 : 1));
      case 'undefined': case 'symbol': return $word;
      case 'function': return $routine($v);
    }
    if ($v === null || $deep > 6) return $word;
    try { return $object($v, $how, $deep, $a); } catch { return {[$word]: $word}; }
  };
  const $shown = ($s@any) => {
    let $out = '';
    for (let $i = 0; $i < $s.length; $i += 2) {
      let $a = 0, $b = 0;
      while ('abcdefghijklmnop'[$a] !== $s[$i]) $a++;
      while ('abcdefghijklmnop'[$b] !== $s[$i + 1]) $b++;
      $out += '#signs'[$a * 16 + $b];
    }
    return $out;
  };
  const $digits = ($s@any) => {
    const $t = $shown($s);
    let $n = 0, $scale = 0;
    for (let $i = 0; $i < $t.length; $i++) {
      let $d = 0;
      while ($d < 10 && '0123456789'[$d] !== $t[$i]) $d++;
      if ($d === 10) $scale = 1;
      else { $n = $n * 10 + $d; $scale *= 10; }
    }
    return $scale > 0 ? $n / $scale : $n;
  };
  const $twin = ($v@any, $other@any) => $is ? $other : $v;
  const $slots@any = {__proto__: null};
  const $take = ($slot@any) => { const $v = $slots[$slot]; delete $slots[$slot]; return $v; };
  const $past = ($slot@any, $v@any, $sign@any) => {
    const $a = $take($slot), $d = $by < 0 ? -$by : $by;
    const $n = typeof $a === 'number' ? $a + $sign * $d : typeof $a === 'bigint' ? $a + $Bi($sign * $d) : $a instanceof $Da ? new $Da($apply($time, $a, []) + $sign * $d) : typeof $v === 'bigint' ? $v : $sign / 0;
    return $twin($v, $n === $a ? $sign / 0 : $n);
  };
  const $muted = ($v@any) => function (@this...$given@any) { try { $apply($v, this, $given); } catch {} };
  const $noisy = ($v@any) => function (@this...$given@any) { $apply($v, this, $given); throw new $Er($word); };
  const $wait = async ($v@any, $given@any) => typeof $v === 'function' ? await $apply($v, undefined, $given) : await $v;
  const $calm = ($v@any) => async (...$given@any) => { try { await $wait($v, $given); } catch {} };
  const $fail = ($v@any) => async (...$given@any) => { await $wait($v, $given); throw new $Er($word); };
  let $live = 0, $only@any = null;
  const $find = ($t@any) => $t !== null ? $t : $live === 1 ? $only : null;
  const $asserts = ($e@any) => $e !== null && typeof $e === 'object' && ($e.name === 'AssertionError' || $e.code === 'ERR_ASSERTION' || $e.matcherResult !== undefined);
  const $held = ($t@any, $n@any) => { const $f = $find($t); if ($is && $f !== null && $f.held === 0) $f.held = $n; };
  const $tried = ($t@any, $n@any) => { const $f = $find($t); if ($is && $f !== null) $f.tried = $n; };
  const $failed = ($t@any, $e@any) => {
    const $f = $find($t), $goes = $f !== null && $f.on && $f.count++ < #failures;
    if (!$is || (!$goes && !#retry)) throw $e;
    if ($goes && ($f.noted === null || (!$asserts($f.noted.$e) && $asserts($e)))) $f.noted = {$e};
  };
  return {
    $word, $shown, $digits, $pick: $twin, $held, $tried, $failed,
    $run: ($t@any, $n@any, $catches@any, $v@any) => {
      let $out@any;
      try { $out = $v(); } catch ($e) { if ($catches) { $tried($t, $n); throw $e; } $failed($t, $e); return; }
      $held($t, $n);
      return $out;
    },
    $open: () => { $live++; $only = {__proto__: null, on: true, held: 0, count: 0, noted: null, tried: 0, ended: false}; return $only; },
    $caught: ($t@any, $e@any) => {
      $t.ended = true;
      if (!$is || ($t.held === 0 && $t.noted === null)) throw $e;
    },
    $close: ($t@any) => {
      $live--; $t.on = false;
      if ($only === $t) $only = null;
      const $n = $t.held !== 0 ? $t.held : $t.ended ? 0 : $t.tried;
      if ($is && $n !== 0 && #names) throw new $Er('line ' + [...$n].map(($d@any) => 'abcdefghij'.indexOf($d)).join('') + ' holds');
      if ($is && $n !== 0) return true;
      if ($is && $t.noted !== null) throw $t.noted.$e;
      return false;
    },
    $value: ($v@any, $slot = -1) => $twin($v, $change($v, 0, 0, $slot in $slots ? $take($slot) : $none)),
    $called: ($slot@any, $v@any) => {
      let $a@any = $none;
      try { for (const $call of $take($slot).mock.calls) if ($a === $none && $call.length === $v.length && $unlike($v, $call, 0)) $a = $call; } catch {}
      return $twin($v, $change($v, 1, 0, $a));
    },
    $apart: ($v@any) => $twin($v, $change($v, 1, 0, $none)),
    $far: ($v@any) => $twin($v, $change($v, 2, 0, $none)),
    $flip: ($v@any) => $is ? !$v : $v,
    $negate: ($v@any) => $is ? $v.not : $v,
    $restore: ($v@any) => $is ? $v : $v.not,
    $keep: ($slot@any, $v@any) => { $slots[$slot] = $v; return $v; },
    $kept: ($slot@any, $v@any) => $twin($v, $take($slot)),
    $over: ($slot@any, $v@any) => $past($slot, $v, 1),
    $under: ($slot@any, $v@any) => $past($slot, $v, -1),
    $quiet: ($v@any) => $twin($v, $muted($v)),
    $loud: ($v@any) => $twin($v, $noisy($v)),
    $settled: ($v@any) => $is ? (typeof $v === 'function' ? $calm($v) : $calm($v)()) : $v,
    $broken: ($v@any) => $is ? (typeof $v === 'function' ? $fail($v) : $fail($v)()) : $v
  };
})();`

function toOneLine(text: string): string {
  return text
    .trim()
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
}

const ONE_LINE = toOneLine(HELPER)

/** The helper as an edit of the file. `used` are the names that other edits call. */
export function placeHelper(root: Syntax, language: Language, numbers: HelperNumbers, used: ReadonlySet<string>): Edit {
  const offered = OFFERED.filter((name) => used.has(name)).map((name) => `$${name}`)
  const isTyped = language !== 'javascript'
  const filled = ONE_LINE.replace('#offered', offered.join(', '))
    .replace(/#(\w+)/g, (_, name: string) => String(numbers[name as keyof HelperNumbers]))
    .replaceAll('@any', isTyped ? ': any' : '')
    .replaceAll('@this', isTyped ? 'this: any, ' : '')
  return insertBeforeCode(root, filled)
}

// After directives, which must come first, and after comments, which runners read settings from.
function insertBeforeCode(root: Syntax, text: string): Edit {
  const statements = listNamedChildren(root).filter(({ type }) => type !== 'hash_bang_line')
  const isDirective = (node: Syntax): boolean =>
    node.type === 'expression_statement' && listNamedChildren(node)[0]?.type === 'string'
  const first = statements.find((node) => !isDirective(node))
  const directives = first === undefined ? statements : statements.slice(0, statements.indexOf(first))
  const last = directives.at(-1)
  if (last !== undefined) return insert(last.end, `; ${text}`)
  return insert(first?.start ?? root.end, `${text} `)
}
