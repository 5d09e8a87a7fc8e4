const MARKS = Array.from({ length: 8 }, (_, at) => `.m${at + 1} { color: var(--c${at + 1}); }`).join(' ')

/** The style of a report: readable in light and in dark, on paper, and without anything from elsewhere. */
export const REPORT_STYLE = `
:root { color-scheme: light dark; --bg: #fff; --ink: #1c2430; --dim: #5b6675; --line: #d9dee5; --soft: #f4f6f9;
  --c1: #1b66b3; --c2: #b4540a; --c3: #1d7d5a; --c4: #7a3fd0; --c5: #b01c6f; --c6: #77690a; --c7: #4b5a6b; --c8: #a82222; }
@media (prefers-color-scheme: dark) {
  :root { --bg: #12161c; --ink: #e6eaf0; --dim: #a0abba; --line: #2f3947; --soft: #1a212b;
    --c1: #6aaef5; --c2: #f0a05a; --c3: #5cc79a; --c4: #b594f7; --c5: #f08abf; --c6: #d3c25a; --c7: #9fb0c3; --c8: #f28b8b; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 4rem; background: var(--bg); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.3; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .75rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem; }
p { margin: .5rem 0; overflow-wrap: anywhere; }
.dim { color: var(--dim); }
dl.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .75rem; margin: 1.25rem 0; }
dl.numbers div { background: var(--soft); border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .8rem; }
dl.numbers dt { color: var(--dim); font-size: .8rem; }
dl.numbers dd { margin: 0; font-size: 1.15rem; font-weight: 600; overflow-wrap: anywhere; }
figure { margin: 1rem 0 1.5rem; }
figcaption { font-weight: 600; margin-bottom: .25rem; }
ul.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin: .25rem 0; padding: 0; font-size: .85rem; }
${MARKS}
svg { display: block; width: 100%; height: auto; }
.table { overflow-x: auto; margin: .75rem 0 1.25rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
th { color: var(--dim); font-weight: 600; font-size: .85rem; white-space: nowrap; }
td.number, th.number { text-align: right; white-space: nowrap; }
td:first-child { white-space: nowrap; }
.number + td:not(.number), .number + th:not(.number) { padding-left: 1.2rem; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem; white-space: pre-wrap;
  overflow-wrap: anywhere; font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
details { margin: .5rem 0; }
summary { cursor: pointer; }
summary:focus-visible { outline: 2px solid var(--c1); outline-offset: 2px; }
footer { margin-top: 3rem; color: var(--dim); font-size: .85rem; }
@media print { body { max-width: none; } details:not([open]) > * { display: revert; } }
`
