import { expect, it } from 'vitest'
import { useStage } from '../../dashboard/stage.ts'
import { fillWorkspace } from './fill-workspace.ts'
import { savePicture } from './save-picture.ts'

const stage = useStage({ services: ['api', 'scheduler', 'dispatcher'] })
const most = 150 * 1024

it('takes the pictures of the README within the size limit', async () => {
  await fillWorkspace(stage)
  const { body } = await stage.belfry.call('GET', '/api/v1/scheduler/runs?status=failed&limit=1')
  const home = await stage.home()
  const page = await stage.ownerPage()
  const screens = [
    { name: 'overview', path: '', shows: 'Success rate', height: 1010 },
    { name: 'cron-jobs', path: '/cron-jobs', shows: 'Nightly report', height: 460 },
    { name: 'run', path: `/log/${body.data[0].id}`, shows: 'provider_unavailable', height: 860 },
  ]
  const sizes: Record<string, number[]> = {}
  for (const { name, path, shows, height } of screens) {
    await page.setViewportSize({ width: 1280, height })
    await page.goto(home + path)
    await page.getByText(shows).first().waitFor()
    await page.waitForTimeout(1500) // until charts and lists have settled
    sizes[name] = await savePicture(page, name)
  }
  console.log(sizes)
  expect(Math.max(...Object.values(sizes).flat())).toBeLessThan(most)
})
