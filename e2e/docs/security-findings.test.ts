import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { repositoryRoot } from '../repository-root.ts'

const read = (path: string) => readFileSync(join(repositoryRoot(), path), 'utf8')
const findings = read('e2e/docs/security-findings.md')
const numbers = [...findings.matchAll(/^\| (\d[\d–]*) \|/gm)].map(([, number]) => number)

it('the threat model has each finding of both reviews', () => {
  const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, i) => String(first + i))
  expect(numbers.filter(number => number !== '14–24')).toEqual([...upTo(13), ...upTo(25, 0)])
  expect(numbers.filter(number => number === '14–24').length).toBeGreaterThan(5)
})

it('takes packages and images a week after their release at the earliest', () => {
  const weekInMinutes = 7 * 24 * 60
  expect(parse(read('pnpm-workspace.yaml')).minimumReleaseAge).toBeGreaterThanOrEqual(weekInMinutes)
  const { extends: presets, minimumReleaseAge } = JSON.parse(read('renovate.json'))
  expect(minimumReleaseAge).toBe('7 days')
  expect(presets).toEqual(expect.arrayContaining(['docker:pinDigests', 'helpers:pinGitHubActionDigests']))
})
