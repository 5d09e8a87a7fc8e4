/** Runners whose output or report is read. `docs/test-reports.md` lists the formats. */
export const RUNNERS_READ =
  /\b(?:vitest|jest|react-scripts|mocha|ava|tape|pytest|unittest|go test|cargo test)\b|--test\b|--?tap\b/
