type CamelCase<S extends string> = S extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : S

type CamelKeys<T> = { [K in keyof T as K extends string ? CamelCase<K> : never]: T[K] }

/** The members of an object of the document, as the core names them: `max_attempts` becomes `maxAttempts`. */
export function convertToCamelKeys<T extends object>(document: T): CamelKeys<T> {
  const members = Object.entries(document).map(([key, value]) => [
    key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ])
  return Object.fromEntries(members) as CamelKeys<T>
}
