import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stateReasons } from '@belfry/domain/task-state'
import { waitReasons } from '@belfry/domain/wait-reason'
import { expect, it } from 'vitest'
import { type ExplainedCode, fieldErrors, runErrors } from './explained-codes.ts'
import { problems } from './problem.ts'

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
  const forms =
    /\bcode: '(\w+)',? (?:must|message|path)|path: [^}]*?code: '(\w+)'|matching\([\s\S]{0,600}?'(invalid_\w+)'/g
  return [...text.matchAll(forms)].map(([, first, second, third]) => first ?? second ?? third ?? '')
}

/** Returns the rows of a section's table, without links. */
function rowsOf(title: string): string[] {
  const section = page.split(/^## /m).find(part => part.startsWith(title)) ?? ''
  return section
    .split('\n')
    .flatMap(line => (line.startsWith('| `') ? [line.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')] : []))
}

const rowsFor = (codes: Record<string, ExplainedCode>) =>
  Object.entries(codes).map(([code, [cause, action]]) => `| \`${code}\` | ${cause} | ${action} |`)

it('docs/errors.md explains every code of a run like its page, and no other', () => {
  expect(rowsOf('Runs')).toEqual(rowsFor(runErrors))
})

it('docs/errors.md explains every code of a field like its page, and no other', () => {
  expect(rowsOf('Fields')).toEqual(rowsFor(fieldErrors))
})

it('docs/errors.md explains every reason of a cancelled task, and no other', () => {
  expect(codesIn('Tasks that ended without an attempt')).toEqual([...stateReasons].sort())
})

it('docs/activity-log.md explains every reason of a late start, and no other', () => {
  expect(codesIn('Late starts', read('docs/activity-log.md'))).toEqual([...waitReasons].sort())
})

it('every code of a field has an explanation', () => {
  const used = new Set(['packages/contract/src', 'services/api/src'].flatMap(fieldCodesIn))
  used.delete('custom') // an issue of zod, which becomes invalid_value
  expect(used.size).toBeGreaterThan(20)
  expect([...used].filter(code => !(code in fieldErrors))).toEqual([])
})

it('docs/errors.md names existing codes of requests with their status', () => {
  const section = page.split(/^## /m).find(text => text.startsWith('Requests')) ?? ''
  const rows = [...section.matchAll(/^\| `(\w+)` \| (\d+) \|/gm)]
  expect(rows.length).toBeGreaterThan(5)
  const status = (code: string) => Object.entries(problems).find(([name]) => name === code)?.[1].status
  for (const [, code = '', given] of rows) expect([code, String(status(code))]).toEqual([code, given])
})
