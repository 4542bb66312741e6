import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { repositoryRoot } from '../repository-root.ts'

const read = (path: string) => readFileSync(join(repositoryRoot(), path), 'utf8')
const rows = ['e2e/docs/security-findings.md', 'e2e/cases.md'].flatMap(page =>
  [...read(page).matchAll(/^\| (.+?) \| .*\|$/gm)].flatMap(([row, first]) => {
    const tests = [...row.matchAll(/\]\((?:\.\.\/)+([^)]+)\): “([^”]+)”/g)]
    return tests.length === 0 ? [] : [{ page, first, tests }]
  }),
)

it('finds the rows of each page', () => {
  const count = (of: string) => rows.filter(({ page }) => page === of).length
  expect([count('e2e/docs/security-findings.md'), count('e2e/cases.md')]).toEqual([expect.toSatisfy(n => n > 40), 25])
})

it.each(rows)('the tests of $page exist: $first', ({ tests }) => {
  for (const [, path = '', title = ''] of tests) expect(read(path), path).toMatch(startOfTitle(title))
})

// A title is a text in quotes, or begins one.
function startOfTitle(title: string): RegExp {
  return new RegExp(`['"\`]${title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`)
}
