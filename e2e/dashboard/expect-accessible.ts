import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isFullRun } from '@belfry/test-support/property-runs'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { sizes } from './stage.ts'

type Violation = { id: string; impact: string; nodes: Array<{ target: unknown[]; failureSummary: string }> }

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

// Menus and tooltips are at the end of the body, outside of the landmarks, as dialogs are.
const regionMatcher = 'dialog, [role=dialog], [role=alertdialog], svg, [role=menu], [role=tooltip]'
const options = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'],
  resultTypes: ['violations'],
  checks: { region: { enabled: true, options: { regionMatcher } } },
}
// The rules that depend on colors.
const darkOptions = { ...options, runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } }

/** The screens that axe has checked, by the file of the test. */
const checked = new Set<string>()

/**
 * Checks the page with axe: all rules in the light theme, and those on colors in the dark one. Fails on every violation that is
 * not minor. `npm test` does this for the first state of a screen in each file, `npm run test:all` for every one. Also fails
 * when long names would make the page wider than its screen or a narrow one: only tables and code scroll sideways.
 * @param screen - The route of the dashboard that the page must show. Default: the page belongs to another site.
 */
export async function expectAccessible(page: Page, screen?: string): Promise<void> {
  if (screen !== undefined) expect(routeOf(page.url())).toBe(screen)
  const state = `${expect.getState().testPath} ${screen}`
  if (isFullRun || screen === undefined || !checked.has(state)) await runAxe(page)
  checked.add(state)
  const size = page.viewportSize() ?? sizes.wide
  for (const each of [sizes.narrow, size]) {
    await page.setViewportSize(each)
    const width = await page.evaluate(screen === undefined ? pageWidth : widthWithLongNames)
    expect(width, `the width of ${page.url()}`).toBeLessThanOrEqual(each.width)
  }
}

async function runAxe(page: Page): Promise<void> {
  // Evaluated, because the content security policy forbids adding a script element.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe)
  await expectNoViolation(page, 'light', options)
  await expectNoViolation(page, 'dark', darkOptions)
}

function pageWidth(): number {
  return document.documentElement.scrollWidth
}

/** Returns the width that the page would have if each name on it had 170 letters and no space. */
function widthWithLongNames(): number {
  const names = [...document.querySelectorAll('main :is(h1, h2, h3, dd, bdi)')]
  const texts = names.flatMap(name => {
    const walker = document.createTreeWalker(name, NodeFilter.SHOW_TEXT)
    const found: Text[] = []
    while (walker.nextNode()) found.push(walker.currentNode as Text)
    return found.filter(text => !text.parentElement?.closest('time, button'))
  })
  const before = texts.map(text => text.data)
  for (const text of texts) text.data = 'W'.repeat(170)
  const width = document.documentElement.scrollWidth
  for (const [index, text] of texts.entries()) text.data = before[index] ?? ''
  return width
}

async function expectNoViolation(page: Page, colorScheme: 'light' | 'dark', run: object): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  const violations = (await page.evaluate(
    `axe.run(document, ${JSON.stringify(run)}).then(result => result.violations)`,
  )) as Violation[]
  const found = violations
    .filter(({ impact }) => impact !== 'minor')
    .map(({ id, nodes }) => ({ id, nodes: nodes.map(({ target, failureSummary }) => `${target}: ${failureSummary}`) }))
  expect(found, `axe on ${page.url()} in ${colorScheme}`).toEqual([])
}

/** Returns the path of a page as the router writes it, such as `:slug/w/:ws/tasks/:task`. */
function routeOf(url: string): string {
  return new URL(url).pathname
    .slice(1)
    .replace(/^[\w-]+\/(settings\/|w\/)/, ':slug/$1')
    .replace(/\b(ws|org|task|run)_\w+/g, ':$1')
    .replace(/\bcron_\w+/, ':cronJob')
    .replace(/\/hosts\/.+/, '/hosts/:host')
}
