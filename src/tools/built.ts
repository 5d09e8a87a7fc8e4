/** The built files, found from src/tools (tests run the sources), dist/tools and dist/program alike. */
export const BUILT = new URL('../../dist/', import.meta.url)
