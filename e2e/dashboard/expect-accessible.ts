import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { sizes } from './stage.ts'

type Violation = { id: string; impact: string; nodes: Array<{ target: unknown[]; failureSummary: string }> }

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

// Menus and tooltips are at the end of the body, outside of the landmarks, as dialogs are.
const regionMatcher = 'dialog, [role=dialog], [role=alertdialog], svg, [role=menu], [role=tooltip]'
const options = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'],
  resultTypes: ['violations'],
  checks: { region: { enabled: true, options: { regionMatcher } } },
}

/**
 * Checks the page with axe in both themes, and fails on every violation that is not minor. Also fails when the page is wider
 * than a narrow screen: only tables and code scroll sideways.
 */
export async function expectAccessible(page: Page): Promise<void> {
  // Evaluated, because the content security policy forbids adding a script element.
  await page.evaluate(readFileSync(axe, 'utf8'))
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
    const violations = (await page.evaluate(
      `axe.run(document, ${JSON.stringify(options)}).then(result => result.violations)`,
    )) as Violation[]
    const found = violations
      .filter(({ impact }) => impact !== 'minor')
      .map(({ id, nodes }) => ({
        id,
        nodes: nodes.map(({ target, failureSummary }) => `${target}: ${failureSummary}`),
      }))
    expect(found, `axe on ${page.url()} in ${theme}`).toEqual([])
  }
  const size = page.viewportSize() ?? sizes.wide
  await page.setViewportSize(sizes.narrow)
  const width = await page.evaluate(() => document.documentElement.scrollWidth)
  await page.setViewportSize(size)
  expect(width, `the width of ${page.url()}`).toBeLessThanOrEqual(sizes.narrow.width)
}
