const QUERY_CHARS_MAX = 4_000
const WORDS_MAX = 32
const WORD_CHARS_MAX = 64

// Words that are in nearly every passage do not distinguish passages, and cost the most.
const COMMON: ReadonlySet<string> = new Set(
  (
    'a an and are as at be been but by can could did do does for from had has have how i if in into is it its me my of on or our ' +
    'should so than that the their them then there these they this to was we were what when where which who why will with would you your'
  ).split(' '),
)

/** The maximum length of a query that is read. */
export function cutQuery(query: string): string {
  return query.slice(0, QUERY_CHARS_MAX).toWellFormed().replaceAll('\0', ' ').trim()
}

/** The searched words of a query, without very common ones if there are others. */
export function splitQuery(query: string): readonly string[] {
  const words = [...new Set([...listRuns(query), ...listIdentifierParts(query)].map((word) => word.toLowerCase()))]
  const telling = words.filter((word) => !COMMON.has(word))
  return (telling.length === 0 ? words : telling).slice(0, WORDS_MAX)
}

/** Additional search text of a passage: its path, the title of its document, and the parts of identifiers in it. */
export function formatNames(
  { path, title }: { readonly path: string; readonly title: string },
  passage: { readonly path: readonly string[]; readonly content: string },
): string {
  return [path, title, ...listIdentifierParts(`${path} ${passage.path.join(' ')} ${passage.content}`)].join(' ')
}

/** The parts of identifiers such as `timeoutMs`; other separators split words already. */
function listIdentifierParts(text: string): readonly string[] {
  return listRuns(text).flatMap((word) => {
    const parts = word.split(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u)
    return parts.length > 1 ? parts : []
  })
}

function listRuns(text: string): readonly string[] {
  return (text.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []).map(cut)
}

function cut(word: string): string {
  return word.slice(0, WORD_CHARS_MAX).toWellFormed()
}

// Common abbreviations, one group per line.
const SHORT_FORMS: ReadonlyMap<string, readonly string[]> = new Map(
  `a11y accessibility
auth authentication authorization
cert certificate
config configuration
db database
deps dependencies
dir directory folder
docs documentation
e2e end-to-end
env environment
gc garbage-collection
i18n internationalization localization
infra infrastructure
k8s kubernetes
lib library
ops operations
perf performance
prod production
qa quality-assurance
regex regular-expression
repo repository
spec specification
sre site-reliability
sso single-sign-on
vm virtual-machine`
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap((group) => group.map((word) => [word, group.filter((other) => other !== word)] as const)),
)

/** The long forms of an abbreviation, and vice versa; words joined by `-` are adjacent in a text. */
export function listOtherForms(word: string): readonly string[] {
  return SHORT_FORMS.get(word) ?? []
}
