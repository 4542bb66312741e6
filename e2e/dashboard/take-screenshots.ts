import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { repositoryRoot } from '../repository-root.ts'
import { sizes } from './stage.ts'

// Ignored by git.
const folder = join(repositoryRoot(), 'e2e/dashboard/screenshots')

/** Saves the page wide and narrow, light and dark, if SCREENSHOTS is set: `tasks-wide-dark.png`. */
export async function takeScreenshots(page: Page, name: string): Promise<void> {
  if (!process.env.SCREENSHOTS) return
  mkdirSync(folder, { recursive: true })
  for (const size of ['wide', 'narrow'] as const) {
    await page.setViewportSize(sizes[size])
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
      await page.evaluate(() => window.scrollTo(0, 0))
      await page.screenshot({ path: join(folder, `${name}-${size}-${theme}.png`), fullPage: true })
    }
  }
  await page.setViewportSize(sizes.wide)
  await page.emulateMedia({ colorScheme: 'light' })
}
