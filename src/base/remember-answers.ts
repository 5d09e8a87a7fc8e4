const ANSWERS_MAX = 200_000

/** The same question with its answers remembered: each gate asks about every path of a tree, several times. */
export function rememberAnswers<T extends string | boolean | object>(ask: (path: string) => T): (path: string) => T {
  const answers = new Map<string, T>()
  return (path) => {
    const known = answers.get(path)
    if (known !== undefined) return known
    const answer = ask(path)
    if (answers.size >= ANSWERS_MAX) answers.clear()
    answers.set(path, answer)
    return answer
  }
}

/** The same for a question that depends on something else too, which must never change. */
export function rememberAnswersBy<K extends WeakKey, T extends string | boolean | object>(
  ask: (key: K, path: string) => T,
): (key: K, path: string) => T {
  const asked = new WeakMap<K, (path: string) => T>()
  return (key, path) => {
    let answer = asked.get(key)
    if (answer === undefined) {
      answer = rememberAnswers((one) => ask(key, one))
      asked.set(key, answer)
    }
    return answer(path)
  }
}
