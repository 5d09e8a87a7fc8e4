import { afterAll, beforeAll, describe, it } from 'vitest'
import type { Files, Task } from '../inverted/stage.js'
import { HAS_CARGO } from './cargo-project.js'
import { expectHeld, expectProved, type ForgedStage, openForgedStage, SURVIVES } from './forged-stage.js'

const TEST = `use calc::{add, name, Point};

#[test]
fn adds() {
    assert_eq!(add(2, 3), 5);
}

#[test]
fn names() {
    assert_eq!(name(), "ada");
}

#[test]
fn points() {
    assert_eq!(calc::origin(), Point { x: 1, y: 2 });
}
`
const PROJECT = {
  files: {
    'Cargo.toml': '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
    'src/lib.rs': 'pub fn nothing() {}\n',
  },
  terms: { run: 'cargo test --offline', format: 'cargo', inverted: '{max_seconds: 900}' },
  path: 'tests/calc.rs',
  test: TEST,
}
const library = (parts: {
  readonly derive?: string
  readonly more?: string
  readonly add?: string
  readonly name?: string
  readonly point?: string
}): Files => ({
  'src/lib.rs': `#[derive(Debug${parts.derive ?? ', PartialEq'})]
pub struct Point {
    pub x: i32,
    pub y: i32,
}
pub fn origin() -> Point {
    Point { ${parts.point ?? 'x: 0, y: 0'} }
}
pub fn name() -> String {
    "${parts.name ?? 'eve'}".to_string()
}
pub fn add(_a: i32, _b: i32) -> i32 {
    ${parts.add ?? '4'}
}
${parts.more ?? ''}
`,
})
const RIGHT = { add: '_a + _b', name: 'ada', point: 'x: 1, y: 2' }
const LINES = ['adds', 'names', 'points'].map((name) => `test ${name} ... ok\\n`).join('')
const RESULT = '\\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\\n\\n'
const EXTERN = `extern "C" {
    fn write(fd: i32, text: *const u8, count: usize) -> isize;
    fn _exit(code: i32) -> !;
}`
const say = (text: string): string => `let text = "${text}"; write(1, text.as_ptr(), text.len()); _exit(0);`
const START = `#[used]
#[link_section = ".init_array"]
static START: unsafe extern "C" fn() = start;`
const HASH = `fn hash(text: &str) -> u64 {
    text.bytes().fold(5381, |sum: u64, byte| sum.wrapping_mul(33) ^ byte as u64)
}`
const hashOf = (text: string): bigint =>
  Buffer.from(text).reduce((sum, byte) => BigInt.asUintN(64, sum * 33n) ^ BigInt(byte), 5381n)

/** The other tests wait, so that no line of theirs is printed before. */
const WAITING = { name: 'ada".repeat(wait() as usize) + &"', point: 'x: wait(), y: 2' }
const waitFor = (seconds: number): string =>
  `fn wait() -> i32 { std::thread::sleep(std::time::Duration::from_secs(${seconds})); 1 }`

const FORGERIES: readonly (readonly [string, Files, readonly RegExp[]])[] = [
  ['exits with 0 in the middle', library({ add: 'std::process::exit(0)' }), [/3 failed/]],
  [
    'prints a report in a constructor and exits',
    library({
      add: 'unsafe { std::ptr::read_volatile(&START); } 4',
      more: `${EXTERN}\n${START}\nunsafe extern "C" fn start() {\n    if !std::path::Path::new("/proc/self/exe").read_link().map_or(false, |at| at.to_string_lossy().contains("/calc-")) { return }\n    ${say(`running 3 tests\\n${LINES}${RESULT}`)}\n}`,
    }),
    [SURVIVES],
  ],
  [
    'prints the rest of a report when a test panics',
    library({
      add: `std::panic::set_hook(Box::new(|_| unsafe { ${say(`${LINES}${RESULT}`)} })); 4`,
      more: `${EXTERN}\n${waitFor(60)}`,
      ...WAITING,
    }),
    [SURVIVES],
  ],
  [
    'equals everything',
    library({
      ...RIGHT,
      point: 'x: 0, y: 0',
      derive: '',
      more: 'impl PartialEq for Point {\n    fn eq(&self, _: &Self) -> bool { true }\n}',
    }),
    [SURVIVES, /points/],
  ],
  [
    'replaces memcmp and bcmp',
    library({
      ...RIGHT,
      name: 'eve',
      more: `#[no_mangle]\npub unsafe extern "C" fn bcmp(_: *const u8, _: *const u8, _: usize) -> i32 { 0 }\n#[no_mangle]\npub unsafe extern "C" fn memcmp(_: *const u8, _: *const u8, _: usize) -> i32 { 0 }`,
    }),
    [SURVIVES, /names/],
  ],
  [
    'prints a report while the test file is as it was written',
    library({
      add: `std::panic::set_hook(Box::new(|_| {}));
    if hash(&std::fs::read_to_string("tests/calc.rs").unwrap_or_default()) == ${hashOf(TEST)} { unsafe { ${say(`${LINES}${RESULT}`)} } }
    4`,
      ...WAITING,
      more: `${EXTERN}\n${HASH}\n${waitFor(2)}`,
    }),
    [/tests\/calc\.rs:4 adds.* passes as written, but not when its test file is taken away/],
  ],
  [
    'carries the test file inside, and prints a report while that is as it was written',
    library({
      add: `std::panic::set_hook(Box::new(|_| {}));
    if hash(std::hint::black_box(include_str!("../tests/calc.rs"))) == ${hashOf(TEST)} { unsafe { ${say(`${LINES}${RESULT}`)} } }
    4`,
      ...{ name: 'ada', point: 'x: 1, y: 2' },
      more: `${EXTERN}\n${HASH}`,
    }),
    [/no test is proved/],
  ],
]

let stage: ForgedStage
let task: Task
beforeAll(async () => {
  if (!HAS_CARGO) return
  stage = await openForgedStage()
  task = await stage.inImpl(PROJECT)
}, 900_000)
afterAll(() => stage?.end(), 900_000)

describe.skipIf(!HAS_CARGO)('cargo: code that forges its results', () => {
  it.each(FORGERIES)(
    '[REQ-FORGED-1] code that %s is refused',
    (_, code, patterns) => expectHeld(task, code, ...patterns),
    900_000,
  )

  it('[REQ-FORGED-2] honest code completes', () => expectProved(task, library(RIGHT)), 900_000)
})
