import type { Language } from './types.js'

const TEXT_CHARS_MAX = 300
const NAME = String.raw`([A-Za-z_$][\w$]{0,80}(?:\.[A-Za-z_$][\w$]{0,80}){0,4})`
const pattern = (source: string): RegExp => new RegExp(`^(?:${source.replaceAll('NAME', NAME)})`)

/** Asserts that something exists, or is a function or a class. */
const KINDS: readonly RegExp[] = [
  String.raw`[\w$.]{1,40}\(\s*typeof\s+NAME\s*(?:,|===?\s*['"\x60]|\))`,
  String.raw`[\w$]{1,20}\.(?:exists|isDefined|isFunction|isNotNull)\(\s*NAME\s*[,)]`,
  String.raw`expect\(\s*NAME\s*\)\.(?:toBeDefined|toBeTypeOf|toBeInstanceOf|toBeFunction|not\.toBe(?:Null|Undefined)|to\.exist|to\.be\.(?:an?|instanceOf|instanceof))\b`,
  String.raw`(?:\w{1,20}\.\w{1,20}\(\s*)?(?:callable|(?:inspect\.)?is(?:function|class|method|builtin))\(\s*NAME\s*\)`,
  String.raw`NAME\s+is\s+not\s+None\s*$`,
  String.raw`self\.assertIsNotNone\(\s*NAME\s*[,)]`,
].map(pattern)

/** Asserts that something is truthy: for a function that says no more. */
const TRUTHS: readonly RegExp[] = [
  String.raw`[\w$]{1,20}(?:\.(?:ok|isOk|assert|assertTrue))?\(\s*NAME\s*[,)]`,
  String.raw`expect\(\s*NAME\s*\)\.(?:toBeTruthy|to\.be\.ok)\b`,
  String.raw`NAME\s*$`,
].map(pattern)

const IMPORTS: Readonly<Record<'python' | 'javascript', readonly RegExp[]>> = {
  python: [/^[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+(\([^)]{0,5000}\)|[^\n]{0,2000})/gm],
  javascript: [
    /\bimport\s([^'"]{0,5000}?)\sfrom\b/g,
    /\b(?:const|let|var)\s([^=;]{0,2000}?)=\s*(?:await\s+import|require)\s*\(/g,
  ],
}

/** Returns whether an assertion only states that something imported exists. */
export function readExistence(language: Language, file: string): (assertion: string) => boolean {
  if (language === 'go' || language === 'rust') return () => false
  const statements = IMPORTS[language === 'python' ? 'python' : 'javascript'].flatMap((exp) => [...file.matchAll(exp)])
  const imported = new Set(statements.flatMap(([, names]) => names?.match(/[\w$]+/g) ?? []))
  return (assertion) => {
    if (assertion.length > TEXT_CHARS_MAX) return false
    const named = (patterns: readonly RegExp[]): readonly string[] =>
      patterns.map((one) => one.exec(assertion)?.[1] ?? '').filter((name) => imported.has(name.split('.')[0] ?? ''))
    return named(KINDS).length > 0 || named(TRUTHS).some((name) => isCalled(name, file))
  }
}

function isCalled(name: string, file: string): boolean {
  return new RegExp(`(?<![\\w$.])${name.replace(/[.$]/g, '\\$&')}\\s*\\(`).test(file)
}
