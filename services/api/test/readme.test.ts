import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

it('README.md lists each folder once', () => {
  const page = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  const listed = [...page.matchAll(/^\| (`.*`) \|/gm)].flatMap(([, names = '']) =>
    names.replaceAll('`', '').split(', '),
  )
  const entries = readdirSync(join(import.meta.dirname, '../src'), { withFileTypes: true })
  const folders = entries.filter(entry => entry.isDirectory()).map(({ name }) => name)
  expect(listed.sort()).toEqual(folders.sort())
})
