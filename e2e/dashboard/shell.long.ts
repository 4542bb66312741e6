import { describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe('the shell around every page', { timeout: 180_000 }, () => {
  const stage = useStage()

  it('works with the keyboard: command palette and shortcuts', async () => {
    const cron = { name: 'Nightly report', cron: '0 3 * * *', method: 'POST', url: stage.receiver.url('/') }
    const { body: job } = await stage.belfry.call('POST', '/api/v1/scheduler/cronjobs', cron)
    const page = await stage.ownerPage()
    await page.goto(await stage.home())
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Search by name, label, host or ID').waitFor()
    await expectAccessible(page, ':slug/w/:ws')
    await takeScreenshots(page, 'commands')
    await page.keyboard.type('nightly')
    await page.getByRole('option', { name: 'Nightly report Cron job' }).waitFor()
    await takeScreenshots(page, 'commands-found')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Nightly report', exact: true }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type(job.id)
    await page.getByRole('option', { name: 'Nightly report Cron job' }).waitFor()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('cron jobs')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Cron jobs', exact: true }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await expectAccessible(page, ':slug/w/:ws/cron-jobs')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  it('says that an API which does not answer cannot be reached', async () => {
    const page = await stage.ownerPage()
    await page.route('**/api/v1/scheduler/status', () => {}) // never answered
    await page.goto(await stage.home())
    await page.getByText('Belfry cannot be reached.').waitFor()
  })

  it('links to the settings and to other workspaces', async () => {
    const page = await stage.ownerPage()
    await page.goto('/')
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor()
    await page.getByRole('link', { name: 'General' }).click()
    await page.getByRole('heading', { name: 'General', exact: true }).waitFor()
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor()
    await takeScreenshots(page, 'settings')
    await page.getByRole('button', { name: 'Main' }).click()
    await page.getByRole('menuitem', { name: 'New workspace' }).waitFor()
    await expectAccessible(page, ':slug/w/:ws/settings/api-keys')
    await takeScreenshots(page, 'switcher')
  })

  it('fits a narrow screen, with the pages in a drawer', async () => {
    const page = await stage.ownerPage({ size: 'narrow' })
    await page.goto(await stage.home())
    await page.getByRole('button', { name: 'Pages' }).click()
    await page.getByRole('link', { name: 'Dead letters' }).click()
    await page.getByRole('heading', { name: 'Dead letters', exact: true }).waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    expect(overflow).toBeLessThanOrEqual(0)
  })

  it('applies the chosen theme from the first paint', async () => {
    const page = await stage.ownerPage()
    await page.goto(await stage.home())
    await page.getByRole('button', { name: 'A user' }).click()
    await page.getByRole('menuitem', { name: 'Dark theme' }).click()
    await page.reload({ waitUntil: 'commit' })
    await page.locator('html[data-theme=dark]').waitFor()
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    expect(ground).toBe('rgb(18, 19, 17)')
  })

  it('reports a page or an object that does not exist', async () => {
    const page = await stage.ownerPage({ expected: /status of 404/ })
    await page.goto('/missing/w/ws_1')
    await page.getByRole('heading', { name: 'Page not found', exact: true }).waitFor()
    await expectAccessible(page, ':slug/w/:ws')
    await takeScreenshots(page, 'nothing')
  })
})
await page.goto(`${await stage.home()}/tasks/task_01jd8vk3e8f4bvm6cz1q2w3x4y`)
await page.getByText("Not found, or you don't have access.").waitFor()
expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
