/** The look of the reference and of the pages about problems. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --ink: #1d2433; --soft: #5b6579; --paper: #ffffff; --panel: #f5f7fa; --line: #dfe4ec; --accent: #4338ca;
  --get: #0369a1; --post: #15803d; --put: #b45309; --patch: #b45309; --delete: #b91c1c;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e4e8f0; --soft: #98a3b8; --paper: #10141c; --panel: #181e29; --line: #2b3444; --accent: #a5b4fc;
    --get: #7dd3fc; --post: #86efac; --put: #fcd34d; --patch: #fcd34d; --delete: #fca5a5;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
a:focus-visible, summary:focus-visible, pre:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code, pre { font: 0.86em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { overflow-wrap: anywhere; }
header { display: flex; align-items: baseline; justify-content: space-between; gap: 1rem; padding: 1rem 1.5rem; border-bottom: 1px solid var(--line); }
header p { margin: 0; }
h1 { font-size: 1.35rem; margin: 0; }
h1 small { color: var(--soft); font-weight: 400; font-size: 0.9rem; }
.page { display: grid; grid-template-columns: 18rem minmax(0, 1fr); max-width: 90rem; margin: 0 auto; }
nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; padding: 0.5rem 1rem 2rem 1.5rem; border-right: 1px solid var(--line); font-size: 0.875rem; }
nav h2 { font-size: 0.8rem; margin: 1.1rem 0 0.25rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: flex; gap: 0.5rem; align-items: baseline; padding: 0.15rem 0; color: var(--ink); }
nav .method { flex: 0 0 3.9em; }
main { padding: 1rem 2rem 4rem; min-width: 0; }
section > h2 { margin: 2.5rem 0 0; font-size: 1.4rem; }
article { padding: 1.25rem 0 1.5rem; border-bottom: 1px solid var(--line); }
article h3 { margin: 0 0 0.35rem; font-size: 1.08rem; }
article h3 a { color: inherit; }
article:target h3 { color: var(--accent); }
h4 { margin: 1rem 0 0.35rem; font-size: 0.8rem; color: var(--soft); }
.address { margin: 0; }
.who { margin: 0.2rem 0 0; color: var(--soft); font-size: 0.875rem; }
.method { font: 700 0.72rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); } .patch { color: var(--patch); } .delete { color: var(--delete); }
.status { font-variant-numeric: tabular-nums; } .s2 { color: var(--post); } .s4 { color: var(--put); } .s5 { color: var(--delete); }
.wide { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: 0.875rem; }
th, td { padding: 0.35rem 0.75rem 0.35rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: 400; }
th { width: 13rem; } th b { color: var(--delete); margin-left: 0.2em; }
td:nth-child(2) { width: 15rem; color: var(--soft); }
td p { margin: 0; }
pre { margin: 0.75rem 0 0; padding: 0.85rem 1rem; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; overflow-x: auto; }
details { border-top: 1px solid var(--line); padding: 0.35rem 0; font-size: 0.9rem; }
details p { margin: 0.35rem 0; color: var(--soft); }
summary { cursor: pointer; }
.one { max-width: 42rem; margin: 12vh auto; padding: 0 1.5rem; }
@media (max-width: 56rem) {
  .page { display: block; }
  nav { position: static; max-height: none; border-right: 0; border-bottom: 1px solid var(--line); padding: 0.5rem 1rem 1rem; }
  header, main { padding-left: 1rem; padding-right: 1rem; }
  table, tbody, tr, th, td, td:nth-child(2) { display: block; width: auto; }
  tr { border-top: 1px solid var(--line); padding: 0.4rem 0; }
  th, td { border: 0; padding: 0; }
}
`
