import { expect, it } from 'vitest'
import { readPage } from './read-pages.ts'

const markdown = `# What it *is*

<!-- not run: needs a cluster -->
\`\`\`sh
kubectl apply
\`\`\`

<!-- a remark -->
1. In a list:

   <!-- prints: "ok": true -->
   \`\`\`ts
   run()
   \`\`\`

## What it is

[one](a.md#b), ![two](c.svg) and <picture><source srcset="d.webp"><img src="e.webp"></picture>
`

it('a page has blocks with their marks, anchors like those of GitHub, and links of all forms', () => {
  expect(readPage('docs/x.md', markdown)).toEqual({
    path: 'docs/x.md',
    blocks: [
      {
        page: 'docs/x.md',
        line: 4,
        language: 'sh',
        text: 'kubectl apply',
        mark: { kind: 'not run', text: 'needs a cluster' },
      },
      { page: 'docs/x.md', line: 12, language: 'ts', text: 'run()', mark: { kind: 'prints', text: '"ok": true' } },
    ],
    anchors: new Set(['what-it-is', 'what-it-is-1']),
    links: ['a.md#b', 'c.svg', 'd.webp', 'e.webp'],
  })
})
