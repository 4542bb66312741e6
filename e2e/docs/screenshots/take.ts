import { expect, it } from 'vitest'
import { useStage } from '../../dashboard/stage.ts'
import { fillWorkspace } from './fill-workspace.ts'
import { savePicture } from './save-picture.ts'

const stage = useStage({ services: ['api', 'scheduler', 'dispatcher'] })
const most = 150 * 1024

it('takes the pictures of the README within the size limit', async () => {
  await fillWorkspace(stage)
  const home = await stage.home()
  const page = await stage.ownerPage()
  await page.setViewportSize({ width: 1280, height: 925 })
  await page.goto(home)
  await page.getByText('Success rate').first().waitFor()
  await page.waitForTimeout(1500) // until charts and lists have settled
  const sizes = await savePicture(page, 'overview')
  console.log(sizes)
  expect(Math.max(...sizes)).toBeLessThan(most)
})
