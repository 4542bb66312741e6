import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { repositoryRoot } from '../../repository-root.ts'

const folder = join(repositoryRoot(), 'docs/images')

/** Takes a picture of the page in light and in dark, such as `overview-dark.webp`. Returns the sizes of the files. */
export async function savePicture(page: Page, name: string): Promise<number[]> {
  const sizes: number[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const webp = await toWebp(page, await page.screenshot())
    await writeFile(join(folder, `${name}-${colorScheme}.webp`), webp)
    sizes.push(webp.length)
  }
  return sizes
}

// In the same browser, on a page without the content policy of the dashboard.
async function toWebp(page: Page, png: Buffer): Promise<Buffer> {
  const blank = await page.context().newPage()
  try {
    const base64 = await blank.evaluate(async source => {
      const image = new Image()
      image.src = `data:image/png;base64,${source}`
      await image.decode()
      const canvas = document.createElement('canvas')
      canvas.width = image.width
      canvas.height = image.height
      canvas.getContext('2d')?.drawImage(image, 0, 0)
      return canvas.toDataURL('image/webp', 0.9).split(',')[1] ?? ''
    }, png.toString('base64'))
    return Buffer.from(base64, 'base64')
  } finally {
    await blank.close()
  }
}
