import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { repositoryRoot } from '../repository-root.ts'

const root = repositoryRoot()
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const folders = ['packages', 'prisma/src', 'programs', 'services', 'scripts']
const files = execFileSync('git', ['ls-files', ...folders], { cwd: root, encoding: 'utf8' })
  .trim()
  .split('\n')
const sources = files.filter(path => /(?<!\.test)\.(ts|mjs)$/.test(path)).map(read)

/** Returns the texts in code style in the first cells of a section's tables. */
function namesIn(page: string, heading: string): string[] {
  const [, section = ''] = read(`docs/${page}.md`).split(`# ${heading}\n`)
  const [own = ''] = section.split(/\n#+ /)
  const rows = [...own.matchAll(/^\| --- .*\n((?:\|.*\n)+)/gm)].flatMap(([, rows = '']) => rows.split('\n'))
  return rows.flatMap(row => [...(row.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
}

describe('what a page names is in the code', () => {
  it('events of the log', () => {
    const events = namesIn('observability', 'Logs')
    expect(events.length).toBeGreaterThan(25)
    expect(events.filter(event => !sources.some(text => text.includes(`'${event}'`)))).toEqual([])
  })

  // The messages of other programs stay, as they are in the reader's terminal.
  it.each([
    ['`npm start`', 0],
    ['The client', 3],
  ])('messages of %s', (heading, foreign) => {
    const messages = namesIn('troubleshooting', heading)
    expect(messages.length).toBeGreaterThan(4)
    const parts = messages.map(message =>
      message.split(/ ?\.\.\. ?|ConnectionError:|3000/).filter(part => part.length > 4),
    )
    const missing = parts.filter(all => !all.every(part => sources.some(text => text.includes(part))))
    expect(missing).toHaveLength(foreign)
  })

  it('reasons of a failed sign-in, each once', () => {
    const [, union = ''] =
      /type SignInError =\n([^\n]+\n(?: {2}\|[^\n]+\n)*)/.exec(read('packages/contract/src/sign-in.ts')) ?? []
    const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code]) => code)
    expect(namesIn('single-sign-on', 'Errors').toSorted()).toEqual(codes.toSorted())
  })

  it('commands of migrate, and no other', () => {
    const [, map = ''] = /^const commands: .*\n([\s\S]*?)^}/m.exec(read('prisma/src/migrate/main.ts')) ?? []
    const commands = [...map.matchAll(/^ {2}'?([\w-]+)'?: \{/gm)].map(([, name]) => name)
    expect(namesIn('self-hosting', 'The commands of migrate').toSorted()).toEqual(commands.toSorted())
  })

  it('headers of a call', () => {
    const headers = namesIn('receiving', 'Headers')
    const sent = read('services/dispatcher/src/attempt/build-request.ts').match(/(?<=')X-Belfry-[\w-]+(?=')/g) ?? []
    expect(headers.filter(name => name.startsWith('X-')).toSorted()).toEqual([...sent, 'X-Belfry-Depth'].toSorted())
  })
})
