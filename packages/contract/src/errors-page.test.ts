import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stateReasons, waitReasons } from '@belfry/domain'
import { expect, it } from 'vitest'
import { problems } from './problem.ts'
import { runErrorCodes } from './run.ts'

const root = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const page = read('docs/errors.md')

/** Returns the codes in the first column of the tables of a section. */
function codesIn(title: string, text = page): string[] {
  const section = text.split(/^## /m).find(part => part.startsWith(title)) ?? ''
  const cells = [...section.matchAll(/^\| (`[^|]*) \|/gm)].map(([, cell = '']) => cell)
  return cells.flatMap(cell => [...cell.matchAll(/`(\w+)`/g)].map(([, code = '']) => code)).sort()
}

/** Returns the codes of fields in the sources below a folder. */
function fieldCodesIn(folder: string): string[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  const sources = files.filter(file => file.endsWith('.ts') && !file.includes('test'))
  const text = sources.map(file => readFileSync(join(root, folder, file), 'utf8')).join('\n')
  return [...text.matchAll(/\bcode: '(\w+)',? (?:must|message|path)|path: [^}]*?code: '(\w+)'/g)].map(
    ([, first, second]) => first ?? second ?? '',
  )
}

it('docs/errors.md explains every error of a run, and no other', () => {
  expect(codesIn('Runs')).toEqual([...runErrorCodes].sort())
})

it('docs/errors.md explains every reason of a cancelled task, and no other', () => {
  expect(codesIn('Tasks that ended without an attempt')).toEqual([...stateReasons].sort())
})

it('docs/activity-log.md explains every reason of a late start, and no other', () => {
  expect(codesIn('Late starts', read('docs/activity-log.md'))).toEqual([...waitReasons].sort())
})

it('docs/errors.md explains every code of a field', () => {
  const used = new Set(['packages/contract/src', 'services/api/src'].flatMap(fieldCodesIn))
  used.delete('custom') // an issue of zod, which becomes invalid_value
  expect(used.size).toBeGreaterThan(20)
  const explained = codesIn('Fields')
  expect([...used].filter(code => !explained.includes(code))).toEqual([])
})

it('docs/errors.md names existing codes of requests with their status', () => {
  const section = page.split(/^## /m).find(text => text.startsWith('Requests')) ?? ''
  const rows = [...section.matchAll(/^\| `(\w+)` \| (\d+) \|/gm)]
  expect(rows.length).toBeGreaterThan(5)
  const status = (code: string) => Object.entries(problems).find(([name]) => name === code)?.[1].status
  for (const [, code = '', given] of rows) expect([code, String(status(code))]).toEqual([code, given])
})
