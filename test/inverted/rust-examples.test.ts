import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { has } from '../inverter/runners.js'
import { openStage, type Stage } from './stage.js'

const CARGO = { run: 'cargo test --offline', format: 'cargo' }
const isThere = has('cargo', '--version')
const EXAMPLE = `/// Adds two numbers.
///
/// \`\`\`
/// assert_eq!(calc::add(2, 3), 5);
/// \`\`\`
`
const INLINE = `
#[cfg(test)]
mod tests {
    #[test]
    fn adds() {
        assert_eq!(super::add(2, 3), 5);
    }
}
`
const PATH = 'src/lib.rs'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.end(), 300_000)

describe.skipIf(!isThere)(`examples in comments of Rust${isThere ? '' : ' (cargo is not installed)'}`, () => {
  it.each(['2021', '2024'])(
    '[REQ-TWINS-17] are named as not judged, beside the inline tests of their file, in edition %s',
    async (edition) => {
      const task = await stage.task(
        {
          '.gitignore': 'target/\n',
          'Cargo.toml': `[package]\nname = "calc"\nversion = "0.1.0"\nedition = "${edition}"\n`,
          [PATH]: 'pub fn nothing() {}\n',
        },
        CARGO,
      )
      await task.write({ [PATH]: `${EXAMPLE}pub fn add(_a: i32, _b: i32) -> i32 { 0 }\n${INLINE}` })
      await task.red({ [PATH]: ['AC-1'] })
      await task.write({ [PATH]: `${EXAMPLE}pub fn add(a: i32, b: i32) -> i32 { a + b }\n${INLINE}` })
      expect(await task.green()).toEqual([])
      expect(task.warnings()).toContain(
        'Not proved: src/lib.rs - add (not_judged: it is an example in a comment, and these are not rewritten)',
      )
      expect(await task.ran()).toMatchObject({ grade: 'proved', inverted: { proved: 1, survived: 0, not_judged: 1 } })
    },
  )
})
