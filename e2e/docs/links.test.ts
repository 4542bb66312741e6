import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { repositoryRoot } from '../repository-root.ts'
import { readPages } from './read-pages.ts'

const pages = new Map(readPages().map(page => [page.path, page]))

/** Returns the file of a link; null for a link that leads out of the repository. */
function resolveLink(from: string, link: string): { path: string; anchor: string } | null {
  if (/^(https?|mailto):/.test(link)) return null
  const [path = '', anchor = ''] = decodeURI(link).split('#')
  return { path: path === '' ? from : normalize(join(dirname(from), path)).replace(/\/$/, ''), anchor }
}

function problemOf(from: string, link: string): string | null {
  const goal = resolveLink(from, link)
  if (!goal) return URL.canParse(link) ? null : 'is no URL'
  if (!existsSync(join(repositoryRoot(), goal.path))) return 'leads nowhere'
  const isKnown = goal.anchor === '' || pages.get(goal.path)?.anchors.has(goal.anchor)
  return isKnown ? null : 'names a heading that is not there'
}

describe('links', () => {
  it.each([...pages.keys()])('of %s lead somewhere', path => {
    const links = pages.get(path)?.links ?? []
    const problems = links.flatMap(link => {
      const problem = problemOf(path, link)
      return problem ? [`${link} ${problem}`] : []
    })
    expect(problems).toEqual([])
  })

  it('of the index reach every page of docs/', () => {
    const index = pages.get('docs/README.md')
    const reached = index?.links.map(link => resolveLink(index.path, link)?.path)
    const own = [...pages.keys()].filter(path => /^docs\/[^/]+\.md$/.test(path) && path !== index?.path)
    expect(own.filter(path => !reached?.includes(path))).toEqual([])
  })
})
