const QUERY_CHARS_MAX = 4_000
const WORDS_MAX = 32
const WORD_CHARS_MAX = 64

// Words that are in nearly every passage tell passages apart by nothing and cost the most.
const COMMON: ReadonlySet<string> = new Set(
  (
    'a an and are as at be been but by can could did do does for from had has have how i if in into is it its me my of on or our ' +
    'should so than that the their them then there these they this to was we were what when where which who why will with would you your'
  ).split(' '),
)

/** What is looked at of a query, however long it is. */
export function boundedQuery(query: string): string {
  return query.slice(0, QUERY_CHARS_MAX).toWellFormed().replaceAll('\0', ' ').trim()
}

/** The words of a query that are looked for, without those that are everywhere if there are others. */
export function wordsOf(query: string): readonly string[] {
  const words = [...new Set((query.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? []).map(cut))]
  const telling = words.filter((word) => !COMMON.has(word))
  return (telling.length === 0 ? words : telling).slice(0, WORDS_MAX)
}

function cut(word: string): string {
  return word.slice(0, WORD_CHARS_MAX).toWellFormed()
}
