import { parseFile, type Syntax } from '../parse.js'
import { getField } from '../syntax.js'

/** An item that is only compiled for tests, with its attributes. */
export interface InlineItem {
  /** The modules and `impl` blocks around it, outermost first: `mod inner`, `impl Cart`. */
  readonly container: string
  /** Its name there: `mod_item tests`. */
  readonly name: string
  readonly text: string
  readonly start: number
  readonly end: number
}

export interface InlineItems {
  readonly items: readonly InlineItem[]
  /** Where a new item of a container is inserted: before its closing brace. */
  readonly ends: ReadonlyMap<string, number>
  /** How often the rest of the file asks whether it is compiled for tests. */
  readonly mentions: number
  /** Modules in separate files that only tests have, by name or by `#[path]`. */
  readonly modules: readonly { readonly name: string; readonly path: string | null }[]
}

const PARSE_MS_MAX = 5_000
const ONLY_TESTS = /^#\[\s*cfg\s*\(\s*(test\s*\)|all\s*\((?:[^()]*,)?\s*test\s*[,)])/
const IS_TEST = /^#\[\s*((\w+::)*test|rstest|test_case|wasm_bindgen_test)\s*[\](]/
const MENTIONS = /\bcfg(?:_attr)?\s*!?\s*[({[][^;{}]{0,300}?\btest\b/g

/** Whether a Rust file may contain tests next to its code: a quick check before it is parsed. */
export function mayHoldTests(text: string): boolean {
  return /\bcfg(_attr)?\s*!?\s*[({[]|#\[\s*[\w:]*test/.test(text)
}

/** The items of a file that only tests have. Null: it cannot be parsed. */
export async function readInlineItems(text: string): Promise<InlineItems | null> {
  const parsed = await parseFile('rust', text, performance.now() + PARSE_MS_MAX)
  if (typeof parsed === 'string') return null
  const items: InlineItem[] = []
  const ends = new Map<string, number>([['', parsed.root.end]])
  const modules: { name: string; path: string | null }[] = []
  const visit = (list: Syntax, container: string): void => {
    let attributes: Syntax[] = []
    for (const node of list.children) {
      if (/comment/.test(node.type)) continue
      if (node.type === 'attribute_item') {
        attributes.push(node)
        continue
      }
      const isOnlyTests = attributes.some(({ text: one }) => ONLY_TESTS.test(one) || IS_TEST.test(one))
      if (isOnlyTests && node.isNamed) {
        const start = attributes[0]?.start ?? node.start
        const name = makeItemName(items, container, node)
        items.push({ container, name, text: text.slice(start, node.end), start, end: node.end })
        if (node.type === 'mod_item' && getField(node, 'body') === null)
          modules.push({ name: getField(node, 'name')?.text ?? '', path: findPath(attributes) })
      } else enter(node, container)
      attributes = []
    }
  }
  const enter = (node: Syntax, container: string): void => {
    const body = getField(node, 'body')
    if (body === null || (node.type !== 'mod_item' && node.type !== 'impl_item')) return
    const head = node.type === 'mod_item' ? `mod ${getField(node, 'name')?.text ?? ''}` : getHead(text, node, body)
    const inner = container === '' ? head : `${container} / ${head}`
    ends.set(inner, body.end - 1)
    visit(body, inner)
  }
  visit(parsed.root, '')
  const rest = items.reduceRight((left, { start, end }) => left.slice(0, start) + left.slice(end), text)
  return { items, ends, modules, mentions: rest.match(MENTIONS)?.length ?? 0 }
}

function getHead(text: string, node: Syntax, body: Syntax): string {
  return text.slice(node.start, body.start).replace(/\s+/g, ' ').trim()
}

function findPath(attributes: readonly Syntax[]): string | null {
  for (const { text } of attributes) {
    const [, path] = /^#\[\s*path\s*=\s*"([^"\n]{1,400})"/.exec(text) ?? []
    if (path !== undefined) return path
  }
  return null
}

// Two of one name are distinguished by their order.
function makeItemName(items: readonly InlineItem[], container: string, node: Syntax): string {
  const own = getField(node, 'name')?.text ?? node.text.replace(/\s+/g, ' ')
  const name = `${node.type} ${own}`
  const same = items.filter((item) => item.container === container && item.name.replace(/ #\d+$/, '') === name).length
  return same === 0 ? name : `${name} #${same + 1}`
}
