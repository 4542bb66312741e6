import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const own = join(import.meta.dirname, 'install-virtual-clock.ts')

// Its own function now() stands before PostgreSQL's on the search path; these are syntax, which no path changes.
it('finds now() in all statements, and none of the forms that it cannot move', () => {
  const folders = ['packages', 'services', 'programs'].flatMap(folder =>
    readdirSync(join(root, folder)).map(name => join(root, folder, name, 'src')),
  )
  const ofUsers = join(root, 'packages/once') // its statements run in the databases of users
  const files = [join(root, 'prisma/src'), ...folders.filter(existsSync)].flatMap(folder =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(path => join(folder, path)),
  )
  const sources = files.filter(
    file => file.endsWith('.ts') && !/generated|\.test\.ts$/.test(file) && file !== own && !file.startsWith(ofUsers),
  )
  expect(sources.length).toBeGreaterThan(500)
  const found = sources.filter(file =>
    /\b(CURRENT_(TIMESTAMP|DATE|TIME)|LOCALTIME(STAMP)?)\b/.test(readFileSync(file, 'utf8')),
  )
  expect(found.map(file => relative(root, file))).toEqual([])
})
