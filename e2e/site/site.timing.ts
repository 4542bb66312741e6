import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launchBrowser } from '../dashboard/browser.ts'
import { expectAccessible } from '../dashboard/expect-accessible.ts'
import { repositoryRoot } from '../repository-root.ts'
import { serveFolder } from './serve-folder.ts'

const dist = join(repositoryRoot(), 'site/dist')
const maxScriptBytes = 100_000
// One of each layout, and the longest pages.
const shown = [
  'index',
  'quick-start',
  'self-hosting',
  'api',
  'client-reference',
  'api-examples',
  'comparison',
  'task-states',
  'decisions/index',
]

let site: { url: string; close(): void }
let browser: Browser
beforeAll(async () => {
  execFileSync(process.execPath, [join(repositoryRoot(), 'site/build.mjs')], { stdio: 'inherit' })
  site = await serveFolder(dist)
  browser = await launchBrowser()
}, 300_000)
afterAll(async () => {
  await browser?.close()
  site?.close()
})

it('has a page for each page of docs/, and no link on any page that leads nowhere', () => {
  const pages = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.html'))
  const docs = readdirSync(join(repositoryRoot(), 'docs')).filter(name => name.endsWith('.md') && name !== 'README.md')
  expect(pages).toEqual(expect.arrayContaining(docs.map(name => name.replace(/md$/, 'html'))))
  const texts = new Map(pages.map(name => [name, readFileSync(join(dist, name), 'utf8')]))
  const problems = [...texts].flatMap(([name, text]) =>
    linksOf(text).flatMap(link => {
      const { pathname, hash } = new URL(link, `http://site/${name}`)
      const goal = decodeURI(pathname).slice(1) || 'index.html'
      const page = goal.endsWith('/') ? `${goal}index.html` : goal
      if (!existsSync(join(dist, page))) return [`${name}: ${link} leads nowhere`]
      const isKnown = hash === '' || texts.get(page)?.includes(`id="${decodeURIComponent(hash.slice(1))}"`)
      return isKnown ? [] : [`${name}: ${link} names a heading that is not there`]
    }),
  )
  expect(problems).toEqual([])
  expect(texts.size).toBeGreaterThan(docs.length)
})

it('has each page as Markdown, and an llms.txt with links to it', () => {
  const pages = readdirSync(dist, { encoding: 'utf8' }).filter(name => name.endsWith('.html'))
  const without = pages.filter(name => !existsSync(join(dist, name.replace(/html$/, 'md'))))
  expect(without).toEqual(['404.html', 'index.html'])
  const list = readFileSync(join(dist, 'llms.txt'), 'utf8')
  const links = [...list.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link)
  expect(links.length).toBeGreaterThan(50)
  expect(links.filter(link => !existsSync(join(dist, link)))).toEqual([])
  expect(links).toEqual(expect.arrayContaining(['./client-reference.md', './api-examples.md']))
})

it('finds a word, changes its theme, and offers its version', async () => {
  const page = await browser.newPage()
  await page.goto(site.url)
  await page.getByRole('button', { name: 'Search' }).first().click()
  await page.getByRole('searchbox').fill('dead letters')
  await page.locator('#localsearch-list a').first().waitFor()
  expect(await page.locator('#localsearch-list').textContent()).toContain('Dead letters')
  await page.keyboard.press('Escape')
  const isDark = () => page.locator('html').evaluate(html => html.classList.contains('dark'))
  expect(await isDark()).toBe(false)
  await page.getByRole('switch').first().click()
  expect(await isDark()).toBe(true)
  const { version } = JSON.parse(readFileSync(join(repositoryRoot(), 'package.json'), 'utf8'))
  expect(await page.locator('.VPNavBarMenu').textContent()).toContain(version)
  await page.close()
})

it('shows the braces of secrets as they are written', async () => {
  const page = await browser.newPage()
  await page.goto(`${site.url}/secrets-and-signing.html`)
  expect(await page.locator('main').textContent()).toContain('{{ secrets.')
  await page.close()
})

it.each(shown)('the page %s is accessible, makes no error, and loads at most 100 KB of script', async name => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
  const errors: string[] = []
  page.on('pageerror', error => errors.push(String(error)))
  page.on('requestfailed', request => errors.push(request.url()))
  const scripts: Request[] = []
  page.on('requestfinished', request => {
    if (request.resourceType() === 'script') scripts.push(request)
  })
  await page.goto(`${site.url}/${name}.html`, { waitUntil: 'networkidle' })
  expect(errors).toEqual([])
  const sizes = await Promise.all(scripts.map(request => request.sizes()))
  const scriptBytes = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0)
  console.log(`${name}: ${scriptBytes} bytes of script`)
  expect(scriptBytes).toBeLessThan(maxScriptBytes)
  expect(scriptBytes).toBeGreaterThan(1000)
  await expectAccessible(page)
  await takeScreenshots(page, name.replace('/', '-'))
  await page.setViewportSize({ width: 390, height: 844 })
  const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
  expect(overflow).toBe(0)
  await page.close()
})

it.each(['index', 'quick-start', 'api'])(
  'the page %s paints within 1.8 s at 200 kB/s and 400 ms latency, and stays in place',
  async name => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    const slow = { offline: false, latency: 400, downloadThroughput: 200_000, uploadThroughput: 50_000 }
    await session.send('Network.emulateNetworkConditions', slow)
    await page.goto(`${site.url}/${name}.html`, { waitUntil: 'networkidle' })
    const { paintMs, shift } = await page.evaluate(async () => {
      const shifts = await new Promise<PerformanceEntryList>(resolve => {
        new PerformanceObserver(list => resolve(list.getEntries())).observe({ type: 'layout-shift', buffered: true })
        setTimeout(() => resolve([]), 1000) // no entries, no call
      })
      return {
        paintMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
        shift: shifts.reduce((sum, entry) => sum + (entry as PerformanceEntry & { value: number }).value, 0),
      }
    })
    console.log(`${name}: first paint after ${Math.round(paintMs)} ms, layout shift ${shift.toFixed(3)}`)
    expect(paintMs).toBeLessThan(1800)
    expect(shift).toBeLessThan(0.1)
    await page.close()
  },
)

function linksOf(text: string): string[] {
  const links = [...text.matchAll(/<(?:a|img|link|script)[^>]* (?:href|src)="([^"]+)"/g)].map(([, link = '']) => link)
  return links.map(link => link.replaceAll('&amp;', '&')).filter(link => !/^(\w+:|\/\/)/.test(link))
}

// SCREENSHOTS names a folder for pictures in both themes and on a narrow screen.
async function takeScreenshots(page: Page, name: string): Promise<void> {
  const { SCREENSHOTS } = process.env
  if (!SCREENSHOTS) return
  mkdirSync(SCREENSHOTS, { recursive: true })
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme })
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 })
      await page.screenshot({ path: join(SCREENSHOTS, `${name}-${theme}-${width}.png`) })
    }
  }
}
