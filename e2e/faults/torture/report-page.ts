export type Page = {
  title: string
  verdict: string
  passed: boolean
  summary: string
  sections: Array<{ heading: string; html: string }>
}

/** Returns a page that needs no other file. */
export function page({ title, verdict, passed, summary, sections }: Page): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<header><p>${title}</p><h1 class="${passed ? 'passed' : 'failed'}">${verdict}</h1><p>${summary}</p></header>
${sections.map(({ heading, html }) => `<section><h2>${heading}</h2>\n${html}\n</section>`).join('\n')}
</body>
</html>
`
}

const style = `
:root { color-scheme: light dark; --text: #1d2230; --quiet: #5b6475; --ground: #fff; --line: #dde1e8; --soft: #f4f6f9;
  --good: #1a7f4b; --bad: #b42318; --calls: #9db4d8; --load: #1d2230; --ended: #b42318; --frozen: #2f6fd0; --network: #c77700;
  --clock: #7a4fc0; --data: #4d7c0f }
@media (prefers-color-scheme: dark) { :root { --text: #e3e7ee; --quiet: #9aa4b5; --ground: #14171d; --line: #323845;
  --soft: #1c2028; --good: #4ccb8a; --bad: #ff7a6b; --calls: #47628f; --load: #e3e7ee; --ended: #ff7a6b; --frozen: #6ea8ff;
  --network: #f0a840; --clock: #b592f0; --data: #a3cf55 } }
body { margin: 0 auto; padding: 24px 16px 48px; max-width: 960px; background: var(--ground); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif }
header p, dd, .legend { color: var(--quiet) }
header p { margin: 0 }
h1 { margin: 4px 0; font-size: 30px; line-height: 1.2 }
h1.passed { color: var(--good) }
h1.failed { color: var(--bad) }
h2 { margin: 40px 0 8px; padding-bottom: 4px; border-bottom: 1px solid var(--line); font-size: 20px }
h3 { margin: 24px 0 8px; font-size: 16px }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px }
dt { font-weight: 600 }
dd { margin: 0 }
.wide { overflow-x: auto }
svg { display: block; min-width: 720px; width: 100%; font-size: 11px }
svg text { fill: var(--quiet) }
svg line { stroke: var(--line) }
svg polyline { fill: none; stroke: var(--load) }
.calls { fill: var(--calls); --mark: var(--calls) }
.load { --mark: var(--load) }
${['ended', 'frozen', 'network', 'clock', 'data'].map(name => `.${name} { fill: var(--${name}); --mark: var(--${name}) }`).join('\n')}
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; padding: 0; list-style: none; font-size: 14px }
.legend li::before { content: ''; display: inline-block; width: 10px; height: 10px; margin-right: 6px; background: var(--mark) }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 14px }
th, td { padding: 4px 16px 4px 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
details { margin: 12px 0 }
summary { cursor: pointer }
pre { padding: 12px; overflow-x: auto; background: var(--soft); font-size: 13px }
@media (max-width: 600px) { dl { grid-template-columns: 1fr } dd { margin-bottom: 8px } }
`
