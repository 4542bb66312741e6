import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

// Chromium reports each failed request and each refused session.
const expected =
  /Failed to load resource|load preload assets|net::ERR_|Failed to fetch dynamically imported module|Unable to preload CSS/

describe('the dashboard while its connection or session is lost', { timeout: 180_000 }, () => {
  const stage = useStage()

  const open = async (page: Page, path: string, heading: string) => {
    await page.goto((await stage.home()) + path)
    await page.getByRole('heading', { name: heading, exact: true }).waitFor()
  }

  it('keeps the shell when a page cannot be loaded, and opens the page once the network is back', async () => {
    const page = await stage.ownerPage({ expected })
    await open(page, '', 'Overview')
    await page.context().setOffline(true)
    await page.getByRole('link', { name: 'Cron jobs' }).click()
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor()
    expect(await page.getByRole('navigation', { name: 'Pages' }).isVisible()).toBe(true)
    await expectAccessible(page, ':slug/w/:ws/cron-jobs')
    await takeScreenshots(page, 'offline')
    await page.context().setOffline(false)
    await page.getByRole('heading', { name: 'Cron jobs', exact: true }).waitFor()
  })

  it('reloads once when a deployment has replaced the script of a page', async () => {
    const page = await stage.ownerPage({ expected })
    await open(page, '', 'Overview')
    // The script is missing until the reload begins. Its preload and its import may be one request or two.
    let reloads = 0
    page.on('request', request => {
      if (request.isNavigationRequest()) reloads += 1
    })
    await page.route('**/assets/subscriptions-*.js', route =>
      reloads === 0 ? route.fulfill({ status: 404 }) : route.continue(),
    )
    await page.getByRole('link', { name: 'Subscriptions' }).click()
    await page.getByRole('heading', { name: 'Subscriptions', exact: true }).waitFor()
    expect(reloads).toBe(1)

    await page.route('**/assets/dead-letters-*.js', route => route.fulfill({ status: 404 }))
    await page.getByRole('link', { name: 'Dead letters' }).click()
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor()
    expect(reloads).toBe(1)
  })

  it('keeps the shell, and one main element, when a page fails', async () => {
    const page = await stage.ownerPage({ expected: /Cannot destructure|React Router caught/ })
    await page.route('**/assets/dead-letters-*.js', route =>
      route.fulfill({
        contentType: 'text/javascript',
        body: 'export function DeadLetters() { const { x } = undefined; return x }',
      }),
    )
    await open(page, '', 'Overview')
    await page.getByRole('link', { name: 'Dead letters' }).click()
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor()
    expect(await page.getByRole('main').count()).toBe(1)
    expect(await page.getByRole('navigation', { name: 'Pages' }).isVisible()).toBe(true)
    await expectAccessible(page, ':slug/w/:ws/dead-letters')
  })

  it('shows its frame before the scripts have arrived', async () => {
    const page = await stage.ownerPage({ expected })
    await page.route('**/assets/*.js', () => {})
    await page.goto(await stage.home(), { waitUntil: 'commit' })
    await page.getByText('Belfry', { exact: true }).waitFor()
    await page.unrouteAll()
  })

  it('says that the log is not live while it is offline', async () => {
    const page = await stage.ownerPage({ expected })
    await open(page, '/log', 'Activity log')
    const state = page.getByRole('main').getByRole('status')
    await state.getByText('Live', { exact: true }).waitFor()
    await page.context().setOffline(true)
    await state.getByText('Connecting…').waitFor()
    await page.context().setOffline(false)
    await state.getByText('Live', { exact: true }).waitFor()
  })

  it('reports an API that does not answer once, and tries again by itself', async () => {
    const page = await stage.ownerPage({ expected })
    let isDown = true
    await page.route('**/api/v1/scheduler/dead-letters*', route =>
      isDown ? route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{}' }) : route.continue(),
    )
    await open(page, '/dead-letters', 'Dead letters')
    await page.getByRole('alert').getByText('Trying again').waitFor()
    expect(await page.getByRole('table').count()).toBe(0)
    isDown = false
    await page.getByRole('heading', { name: 'No dead letters' }).waitFor()
  })

  it('keeps what was typed when the session ends, and when the page is left', async () => {
    const page = await stage.ownerPage({ expected })
    await open(page, '/tasks/new', 'New task')
    expect(await page.getByLabel('Name', { exact: true }).evaluate(field => field.matches(':focus'))).toBe(true)
    await page.getByLabel('Name', { exact: true }).fill('Half a reminder')
    await page.getByLabel('When', { exact: true }).fill('tomorrow 09:00')
    await page.getByLabel('Target URL').fill('https://example.com/hooks')
    const cookies = await page.context().cookies()
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Create task' }).click()
    await page.waitForURL('**/sign-in?return=*')
    await page.context().addCookies(cookies)
    await open(page, '/tasks/new', 'New task')
    await page.getByText('Unsaved changes restored').waitFor()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Half a reminder')
    await expectAccessible(page, ':slug/w/:ws/tasks/new')
    await takeScreenshots(page, 'draft')

    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
    await page.goBack()
    expect(await page.getByLabel('Target URL').inputValue()).toBe('https://example.com/hooks')
    await page.getByRole('button', { name: 'Create task' }).click()
    await page.getByRole('heading', { name: 'Half a reminder' }).waitFor()
    await open(page, '/tasks/new', 'New task')
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('')

    await page.getByLabel('Name', { exact: true }).fill('Not needed')
    await page.reload()
    await page.getByText('Unsaved changes restored').waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('')
    expect(await page.getByText('Unsaved changes restored').count()).toBe(0)
  })

  it('shows the page until that for signing in has loaded, when the session ends', async () => {
    const page = await stage.ownerPage({ expected })
    await open(page, '/tasks/new', 'New task')
    await page.getByLabel('Name', { exact: true }).fill('Half a reminder')
    await page.getByLabel('When', { exact: true }).fill('tomorrow 09:00')
    await page.getByLabel('Target URL').fill('https://example.com/hooks')
    let load = () => {}
    const mayLoad = new Promise<void>(resolve => {
      load = resolve
    })
    await page.route('**/assets/sign-in-*.js', route => mayLoad.then(() => route.continue()))
    const requested = page.waitForRequest('**/assets/sign-in-*.js')
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Create task' }).click()
    await requested
    await page.getByLabel('Name', { exact: true }).fill('A whole reminder')
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('A whole reminder')
    load()
    await page.waitForURL('**/sign-in?return=*')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  it('shows no focus ring around the content after a navigation by keyboard', async () => {
    const page = await stage.ownerPage()
    await open(page, '', 'Overview')
    await page.getByRole('link', { name: 'Subscriptions' }).press('Enter')
    await page.getByRole('heading', { name: 'Subscriptions', exact: true }).waitFor()
    const main = page.getByRole('main')
    await expect.poll(() => main.evaluate(element => element.matches(':focus'))).toBe(true)
    expect(await main.evaluate(element => getComputedStyle(element).outlineStyle)).toBe('none')
  })
})
