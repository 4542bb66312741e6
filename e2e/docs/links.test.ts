import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { repositoryRoot } from '../repository-root.ts'
import { readPage, readPages } from './read-pages.ts'

const pages = new Map(readPages().map(page => [page.path, page]))

/** Returns the file of a link; null for a link that leads out of the repository. */
function resolveLink(from: string, link: string): { path: string; anchor: string } | null {
  if (/^(https?|mailto):/.test(link)) return null
  const [path = '', anchor = ''] = decodeURI(link).split('#')
  return { path: path === '' ? from : normalize(join(dirname(from), path)).replace(/\/$/, ''), anchor }
}

function problemOf(from: string, link: string): string | null {
  if (link.startsWith('../../actions/')) return null // pages of the host of this repository
  const goal = resolveLink(from, link)
  if (!goal) return URL.canParse(link) ? null : 'is no URL'
  if (!existsSync(join(repositoryRoot(), goal.path))) return 'leads nowhere'
  const isKnown = goal.anchor === '' || pages.get(goal.path)?.anchors.has(goal.anchor)
  return isKnown ? null : 'names a heading that is not there'
}

// The file that defines each SQL function: the latest migration with it, or a file of prisma/sql.
const definitions = new Map<string, string>()
for (const folder of ['prisma/migrations', 'prisma/sql']) {
  const names = readdirSync(join(repositoryRoot(), folder), { recursive: true, encoding: 'utf8' })
  for (const path of names.sort().map(name => join(folder, name))) {
    if (!path.endsWith('.sql')) continue
    const text = readFileSync(join(repositoryRoot(), path), 'utf8')
    for (const [, name = ''] of text.matchAll(/^CREATE (?:OR REPLACE )?FUNCTION (\w+)\(/gm)) definitions.set(name, path)
  }
}

describe('links', () => {
  it.each([...pages.keys()])('of %s lead to the SQL that is in force', path => {
    const wrong = [...read(path).matchAll(/\[([^\]]*)\]\(([^)\s]+)\)/g)].filter(([, text = '', link = '']) => {
      const goal = resolveLink(path, link)?.path ?? ''
      const name = text.replaceAll('`', '')
      const definition = goal === `prisma/statements/${name}.sql` ? goal : definitions.get(name)
      return definition === undefined ? /^prisma\/migrations\/\d/.test(goal) : goal !== definition
    })
    expect(wrong.map(([link]) => link)).toEqual([])
  })

  it.each([...pages.keys()])('of %s lead somewhere', path => {
    const links = pages.get(path)?.links ?? []
    const problems = links.flatMap(link => {
      const problem = problemOf(path, link)
      return problem ? [`${link} ${problem}`] : []
    })
    expect(problems).toEqual([])
  })

  it.each(['docs/README.md', 'llms.txt'])('of %s lead somewhere, and reach every page of docs/', path => {
    const { links } = readPage(path, read(path))
    expect(links.flatMap(link => problemOf(path, link) ?? [])).toEqual([])
    const reached = links.map(link => resolveLink(path, link)?.path)
    const own = [...pages.keys()].filter(name => /^docs\/[^/]+\.md$/.test(name) && name !== 'docs/README.md')
    expect(own.filter(name => !reached.includes(name))).toEqual([])
  })
})

// `npm start` installs what it runs, and builds need more.
it('a block that packs a package installs first what its build needs', () => {
  const packing = [...pages.values()].flatMap(({ blocks }) => blocks).filter(({ text }) => text.includes('npx pnpm '))
  const wrong = packing.filter(({ text }) => !text.startsWith('node scripts/bootstrap.mjs\n'))
  expect(packing.length).toBeGreaterThan(6)
  expect(wrong.map(({ page, line }) => `${page}:${line}`)).toEqual([])
})

// Generated pages, and the index.
const lists = ['README', 'api', 'permissions'].map(name => `docs/${name}.md`)
const read = (path: string) => readFileSync(join(repositoryRoot(), path), 'utf8')

describe('pages of docs/', () => {
  const own = [...pages.keys()].filter(path => /^docs\/[^/]+\.md$/.test(path) && !lists.includes(path))

  it.each(own)('%s says what it is about, and ends with related pages', path => {
    const text = read(path)
    expect(text).toMatch(/^# .+\n\n[A-Z`[]/)
    const [related = ''] = text.split('\n## See also\n').slice(1)
    expect(related).not.toContain('\n## ')
    expect(related.match(/\]\(/g)?.length ?? 0).toBeGreaterThan(1)
  })
})

it('commands use the address and the key that the quick start exports', () => {
  const shell = [...pages.values()].flatMap(({ blocks }) => blocks.filter(block => block.language === 'sh'))
  const isLiteral = (line: string) => /localhost:3000|\bbf_\.\.\./.test(line) && !line.startsWith('export ')
  const literal = shell.filter(({ mark, text }) => mark?.kind !== 'not run' && text.split('\n').some(isLiteral))
  expect(literal.map(({ page, line }) => `${page}:${line}`)).toEqual([])
})

describe('the comparison', () => {
  const rowsOf = (path: string) => {
    const lines = read(path).split('\n')
    const first = lines.findIndex(line => line.startsWith('| | cron and'))
    return lines.slice(first, lines.indexOf('', first)).map(line => line.slice(2, -2).split(' | '))
  }
  const long = rowsOf('docs/comparison.md')

  it('has a source for each statement about what a service does', () => {
    const from = long.findIndex(([name]) => name === 'once, at a time')
    const statements = long.slice(from).flatMap(([name, , , tasks = '', qstash = '']) => {
      return name === 'source' ? [] : [tasks, qstash].map(cell => `${name}: ${cell}`)
    })
    expect(statements.length).toBeGreaterThan(10)
    expect(statements.filter(text => !text.includes('](https://'))).toEqual([])
  })
})
