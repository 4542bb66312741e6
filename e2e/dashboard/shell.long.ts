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
    await takeScreenshots(page, 'shortcuts')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  it('reaches, moves through, creates and pauses without a mouse', async () => {
    const request = { method: 'POST', url: stage.receiver.url('/') }
    const cron = { ...request, name: 'Mail digest', cron: '0 3 * * *' }
    const { body: job } = await stage.belfry.call('POST', '/api/v1/scheduler/cronjobs', cron)
    await stage.belfry.call('PUT', '/api/v1/scheduler/queues/mail', {})
    for (const name of ['Oldest', 'Middle', 'Newest']) {
      const task = { ...request, name, execute_at: '2099-01-01T00:00:00Z' }
      expect((await stage.belfry.call('POST', '/api/v1/scheduler/tasks', task)).status).toBe(201)
    }
    const page = await stage.ownerPage()
    const isOn = (name: string) => page.getByRole('link', { name, exact: true }).and(page.locator(':focus')).waitFor()
    const isAt = (heading: string) => page.getByRole('heading', { name: heading, exact: true, level: 1 }).waitFor()
    await page.goto(await stage.home())
    await isAt('Overview')
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Search by name, label, host or ID').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('g')
    await page.keyboard.press('t')
    await isAt('Tasks')
    await page.getByRole('link', { name: 'Oldest' }).waitFor()
    await page.locator('#main:focus').waitFor()
    await page.keyboard.press('j')
    await isOn('Newest')
    await page.keyboard.press('ArrowDown')
    await isOn('Middle')
    await page.keyboard.press('k')
    await isOn('Newest')

    await page.reload()
    await page.getByRole('link', { name: 'Oldest' }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await isOn('Newest')
    await page.keyboard.press('Enter')
    await isAt('Newest')

    await page.keyboard.press('c')
    await isAt('New task')
    await page.locator('input[name=name]:focus').waitFor()
    await page.keyboard.type('By keyboard')
    await page.keyboard.press('Tab')
    await page.keyboard.type('in 1 hour')
    await page.locator('input[name=url]').fill(request.url)
    await page.keyboard.press('Control+Enter')
    await isAt('By keyboard')
    await page.getByRole('button', { name: 'Cancel task' }).click()
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('Control+Enter')
    await page.getByText('Cancelled by a user').waitFor()

    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Search by name, label, host or ID').waitFor()
    await page.keyboard.type('pause mail')
    await page.getByRole('option', { name: 'Pause mail Queue' }).waitFor()
    await takeScreenshots(page, 'commands-pause')
    let answer = () => {}
    const isPressed = new Promise<void>(resolve => {
      answer = resolve
    })
    await page.route(/\/search\?q=mail.dig/, route => isPressed.then(() => route.continue()))
    const asked = page.waitForRequest(/\/search\?q=mail.dig/)
    await page.keyboard.type(' dig')
    await asked
    await page.keyboard.press('Enter') // acts on no result of the text before
    answer()
    await page.getByRole('option', { name: 'Pause Mail digest Cron job' }).click()
    await page.getByText('Mail digest paused', { exact: true }).waitFor()
    expect((await stage.belfry.call('GET', `/api/v1/scheduler/cronjobs/${job.id}`)).body.status).toBe('paused')
    expect((await stage.belfry.call('GET', '/api/v1/scheduler/queues/mail')).body.paused_at).toBeNull()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('dark theme')
    await page.keyboard.press('Enter')
    await page.locator('html[data-theme=dark]').waitFor()
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
    const { token = '', organizationId } = stage.belfry.caller
    for (let n = 1; n <= 9; n += 1) {
      const path = `/api/v1/organizations/${organizationId}/workspaces`
      expect((await stage.belfry.call('POST', path, { name: `Customer ${n}` }, { token })).status).toBe(201)
    }
    await page.reload()
    await page.getByRole('button', { name: 'Main' }).click()
    await page.getByRole('menuitem', { name: 'Search 10 workspaces' }).click()
    await page.getByPlaceholder('Search workspaces').fill('customer 1')
    await takeScreenshots(page, 'switcher-search')
    await page.getByRole('option', { name: 'Customer 1' }).click()
    await page.getByRole('button', { name: 'Customer 1' }).waitFor()
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
    await page.goto(`${await stage.home()}/tasks/task_01jd8vk3e8f4bvm6cz1q2w3x4y`)
    await page.getByText("Not found, or you don't have access.").waitFor()
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
  })
})
