// Copies the pages of the site from the repository into `pages/`, with those that follow from code, and writes their order
// in the navigation to `pages/navigation.json`. A link to a file that is no page leads to the repository, or is plain text
// when its address is unknown. For programs, `pages/public/` has each page as Markdown, and `llms.txt` with links to these.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isProgram } from '../scripts/is-program.mjs'
import { generatedPages, generatePages } from './generate-pages.mjs'

const own = dirname(fileURLToPath(import.meta.url))
const root = resolve(own, '..')
const target = join(own, 'pages')

// The pages outside docs/, by their path in the repository.
const further = {
  'AGENTS.md': 'for-agents.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'report-a-vulnerability.md',
  'clients/python/README.md': 'python-client.md',
  'clients/terraform/docs/index.md': 'terraform/provider.md',
  'clients/terraform/docs/data-sources/secret.md': 'terraform/data-secret.md',
  'clients/terraform/docs/data-sources/workspace.md': 'terraform/data-workspace.md',
  'clients/terraform/docs/resources/cron_job.md': 'terraform/cron-job.md',
  'clients/terraform/docs/resources/integration.md': 'terraform/integration.md',
  'clients/terraform/docs/resources/queue.md': 'terraform/queue.md',
  'clients/terraform/docs/resources/secret.md': 'terraform/secret.md',
  'clients/terraform/docs/resources/subscription.md': 'terraform/subscription.md',
  'k8s/README.md': 'kubernetes.md',
  'k8s/chart/README.md': 'helm-chart.md',
  'llms.txt': 'llms.txt',
  'programs/cli/README.md': 'commands.md',
  'skills/belfry/SKILL.md': 'skill.md',
}

// A page of its own, which the site does not render.
const report = 'docs/torture.html'

/** Returns the name of a page on the site for each file of the repository that has one. */
export function pagesOf(repository) {
  const docs = ['docs', 'docs/decisions'].flatMap(folder =>
    readdirSync(join(repository, folder))
      .filter(name => name.endsWith('.md'))
      .map(name => [posix.join(folder, name), posix.join(folder, name).replace(/^docs\//, '')]),
  )
  const others = Object.entries(further).filter(([path]) => existsSync(join(repository, path)))
  return new Map([...docs.map(([path, page]) => [path, page === 'README.md' ? 'contents.md' : page]), ...others])
}

/** Returns the text of a page with its links changed to those of the site. `source` is the repository's address, or empty. */
export function moveLinks(text, path, pages, source) {
  const page = pages.get(path)
  let isCode = false
  const lines = text.split('\n').map(line => {
    if (/^\s*```/.test(line)) isCode = !isCode
    return isCode ? line : line.replace(/(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g, move)
  })
  // A link may span two lines.
  return lines
    .join('\n')
    .replace(/\[([^[\]`]*\n[^[\]`]*)\]\(([^()\s]+)\)/g, (all, label, link) => move(all, '', label, link))

  function move(all, image, label, link) {
    if (/^(\w+:|#)/.test(link)) return all
    const [to, anchor] = link.split('#')
    const goal = posix.normalize(posix.join(posix.dirname(path), to)).replace(/\/$/, '')
    const found = pages.get(goal) ?? (goal === 'docs/decisions' ? 'decisions/index.md' : undefined)
    if (found) return `[${label}](${relative(page, found)}${anchor ? `#${anchor}` : ''})`
    // The router of the site would look for a page of the site.
    if (goal === report) return `<a href="${relative(page, 'reports/torture.html')}" target="_self">${label}</a>`
    if (image) return `![${label}](${relative(page, goal.replace(/^docs\//, ''))})`
    return source ? `[${label}](${source}/${goal})` : label
  }
}

function relative(from, to) {
  const path = posix.relative(posix.dirname(from), to)
  return path.startsWith('.') ? path : `./${path}`
}

/** Returns the sections of the index with their pages, which is the sidebar of the site. */
export function readNavigation(index, pages) {
  return index
    .split(/^## /m)
    .slice(1)
    .map(section => {
      const rows = section.split('\n').filter(line => /^- \[/.test(line))
      const links = rows.flatMap(row => [...String(row.split(': ')[0]).matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)])
      const items = links.flatMap(([, text, link]) => {
        const path = posix.normalize(posix.join('docs', link))
        const page = path === 'docs/decisions' ? 'decisions/' : pages.get(path)
        const item = { text: text[0].toUpperCase() + text.slice(1), link: `/${page.replace(/\.md$/, '')}` }
        const following = generatedPages.filter(({ after }) => after === path)
        return [item, ...following.map(({ title, page }) => ({ text: title, link: `/${page.replace(/\.md$/, '')}` }))]
      })
      return { text: section.split('\n')[0], items }
    })
}

async function collect(source) {
  const pages = pagesOf(root)
  rmSync(target, { recursive: true, force: true })
  for (const [path, page] of pages) {
    const text = moveLinks(readFileSync(join(root, path), 'utf8'), path, pages, source)
    if (page.endsWith('.md')) write(page, text)
    write(posix.join('public', page), page === 'llms.txt' ? withGeneratedPages(text) : text)
  }
  for (const [page, text] of Object.entries(await generatePages(root))) {
    write(page, text)
    write(posix.join('public', page), text)
  }
  cpSync(join(root, 'docs/images'), join(target, 'images'), { recursive: true })
  cpSync(join(root, 'docs/images'), join(target, 'public/images'), { recursive: true })
  cpSync(join(root, report), join(target, 'public/reports/torture.html'))
  cpSync(join(own, 'home.md'), join(target, 'index.md'))
  write('decisions/index.md', decisions(pages))
  const index = readFileSync(join(root, 'docs/README.md'), 'utf8')
  write('navigation.json', JSON.stringify(readNavigation(index, pages)))
}

function withGeneratedPages(list) {
  return generatedPages.reduce((text, { page, title, about, after }) => {
    const line = new RegExp(`^- \\[.*\\]\\(\\./${posix.basename(after)}\\).*$`, 'm')
    return text.replace(line, found => `${found}\n- [${title}](./${page}): ${about}`)
  }, list)
}

function write(name, text) {
  const file = join(target, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

function decisions(pages) {
  const paths = [...pages.keys()].filter(path => path.startsWith('docs/decisions/'))
  const rows = paths.map(path => {
    const [, title] = /^# (.*)$/m.exec(readFileSync(join(root, path), 'utf8')) ?? []
    return `- [${title}](./${posix.basename(path)})`
  })
  return `# Decisions\n\nDesign decisions and their reasons.\n\n${rows.join('\n')}\n`
}

if (isProgram(import.meta.url)) {
  const { SOURCE_URL = '' } = process.env
  await collect(SOURCE_URL)
}
