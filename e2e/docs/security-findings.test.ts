import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { repositoryRoot } from '../repository-root.ts'

const read = (path: string) => readFileSync(join(repositoryRoot(), path), 'utf8')
const [, findings = ''] = read('docs/security.md').split('## Findings of reviews')
const rows = [...findings.matchAll(/^\| (\d[\d–]*) \| (.+?) \| (.+) \|$/gm)].map(
  ([, number = '', finding = '', tests = '']) => {
    return { number, finding, tests: [...tests.matchAll(/\]\(\.\.\/([^)]+)\): “([^”]+)”/g)] }
  },
)

it('the threat model has each finding of both reviews', () => {
  const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, i) => String(first + i))
  const numbers = rows.map(({ number }) => number)
  expect(numbers.filter(number => number !== '14–24')).toEqual([...upTo(13), ...upTo(25, 0)])
  expect(numbers.filter(number => number === '14–24').length).toBeGreaterThan(5)
})

it.each(rows)('the tests of finding $number exist: $finding', ({ tests }) => {
  expect(tests.length).toBeGreaterThan(0)
  for (const [, path = '', title = ''] of tests) expect(read(path), path).toMatch(startOfTitle(title))
})

// A title is a text in quotes, or begins one.
function startOfTitle(title: string): RegExp {
  return new RegExp(`['"\`]${title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`)
}

it('takes packages and images a week after their release at the earliest', () => {
  const weekInMinutes = 7 * 24 * 60
  expect(parse(read('pnpm-workspace.yaml')).minimumReleaseAge).toBeGreaterThanOrEqual(weekInMinutes)
  const { extends: presets, minimumReleaseAge } = JSON.parse(read('renovate.json'))
  expect(minimumReleaseAge).toBe('7 days')
  expect(presets).toEqual(expect.arrayContaining(['docker:pinDigests', 'helpers:pinGitHubActionDigests']))
})
