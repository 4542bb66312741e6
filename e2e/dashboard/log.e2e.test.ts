import { waitFor } from '@belfry/test-support/wait-for'
import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { signUpViewer } from './sign-up-viewer.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe('the activity log in the dashboard', { timeout: 180_000 }, () => {
  const stage = useStage()
  beforeEach(() => stage.enterNewWorkspace())

  const publish = (topic: string, path: string, payload: unknown = { order: 42 }, more: object = {}) =>
    stage.belfry.call('POST', '/api/events', {
      ...more,
      topic,
      payload,
      target_url: stage.receiver.url(path),
      retry: { max_retries: 0 },
    })
  const publishBroken = async () => {
    stage.receiver.answer('/broken', { status: 500, body: 'no' })
    await publish('orders.broken', '/broken')
  }
  const rowOf = (page: Page, name: string) =>
    page.getByRole('region', { name: 'Runs' }).getByRole('row').filter({ hasText: name })

  it('explains an empty log, and shows a new run without a reload', async () => {
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/log`)
    await page.getByRole('heading', { name: 'No runs yet', exact: true }).waitFor()
    await takeScreenshots(page, 'log-empty')
    await publish('orders.paid', '/paid')
    await rowOf(page, 'orders.paid').getByText('Success').waitFor()

    await page.getByRole('button', { name: 'Pause' }).click()
    await publish('orders.late', '/late')
    await page.getByRole('button', { name: '1 new run' }).waitFor()
    expect(await rowOf(page, 'orders.late').count()).toBe(0)
    await page.getByRole('button', { name: '1 new run' }).click()
    await rowOf(page, 'orders.late').waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
  })

  it('keeps its filters in the URL, across a reload and Back', async () => {
    await publishBroken()
    await publish('orders.paid', '/paid')
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/log`)
    await rowOf(page, 'orders.broken').waitFor()
    await rowOf(page, 'orders.paid').waitFor()
    await page.getByRole('combobox', { name: 'Status', exact: true }).selectOption('failed')
    await rowOf(page, 'orders.paid').waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await page.keyboard.press('/')
    await page.keyboard.type('orders.broken')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Remove filter: Topic orders.broken' }).waitFor()
    expect(new URL(page.url()).search).toBe('?status=failed&topic=orders.broken')
    await page.reload()
    await rowOf(page, 'orders.broken').waitFor()
    expect(await page.getByRole('combobox', { name: 'Status', exact: true }).inputValue()).toBe('failed')
    expect(await rowOf(page, 'orders.paid').count()).toBe(0)
    await expectAccessible(page, ':slug/w/:ws/log')
    await takeScreenshots(page, 'log-filtered')

    const [exported] = await Promise.all([page.waitForEvent('download'), exportAs(page, 'JSON Lines')])
    const lines = (await (await exported.createReadStream()).toArray()).join('').trim().split('\n')
    expect(lines.map(line => JSON.parse(line).topic)).toEqual(['orders.broken'])

    await page.goBack()
    await page.getByRole('button', { name: 'Remove filter: Topic orders.broken' }).waitFor({ state: 'detached' })
    await page.goBack()
    await rowOf(page, 'orders.paid').waitFor()
    await page.getByRole('combobox', { name: 'Time', exact: true }).selectOption('24h')
    await page.getByRole('button', { name: 'Response: Any status code' }).click()
    await page.getByRole('menuitemcheckbox', { name: '404' }).click()
    await page.getByRole('menuitemcheckbox', { name: '410' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Response: 404, 410' }).waitFor()
    expect(new URL(page.url()).searchParams.getAll('response_status')).toEqual(['404', '410'])
    await page.getByRole('heading', { name: 'No matching runs', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await rowOf(page, 'orders.paid').waitFor()
  })

  it('opens a run beside the list, with its own URL; Escape closes it', async () => {
    await publishBroken()
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/log?status=failed`)
    await rowOf(page, 'orders.broken').getByRole('link').press('Enter')
    const run = page.getByRole('region', { name: 'Run', exact: true })
    await run.getByText('HTTP status 500').waitFor()
    expect(page.url()).toMatch(/\/log\/run_[a-z0-9]{26}\?status=failed$/)
    await run.getByRole('tab', { name: 'Request' }).click()
    await run.getByRole('region', { name: 'request body' }).getByText('"order": 42').waitFor()
    await run.getByRole('row', { name: 'X-Belfry-Topic orders.broken' }).waitFor()
    await expectAccessible(page, ':slug/w/:ws/log/:run')
    await takeScreenshots(page, 'run')
    await page.reload()
    await run.getByText('HTTP status 500').waitFor()
    // The list loads separately, and possibly after the run.
    await rowOf(page, 'orders.broken').waitFor()
    await page.locator('body').press('Escape')
    await run.waitFor({ state: 'detached' })
    expect(await page.title()).toBe('Activity log · Belfry')
    const hasFocus = () =>
      rowOf(page, 'orders.broken')
        .getByRole('link')
        .evaluate(link => link.matches(':focus'))
    await expect.poll(hasFocus, { timeout: 10_000 }).toBe(true)
  })

  it('finds a call by a label from its payload, and says what an empty search has looked for', async () => {
    await publish('orders.paid', '/labelled', { order_id: 4711 }, { labels: ['order:{{ payload.order_id }}'] })
    await publish('orders.other', '/other')
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/log`)
    await rowOf(page, 'orders.paid').waitFor()
    await rowOf(page, 'orders.other').waitFor()
    await page.getByLabel('Times', { exact: true }).selectOption('UTC')
    const isCut = () =>
      rowOf(page, 'orders.paid').evaluate(row => {
        const right = row.querySelector('time')?.getBoundingClientRect().right ?? Number.POSITIVE_INFINITY
        return right > row.getBoundingClientRect().right
      })
    expect(await isCut(), 'a time with its zone').toBe(false)
    await takeScreenshots(page, 'log-utc')
    await page.keyboard.press('/')
    await page.keyboard.type('order:4711')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Remove filter: Label order:4711' }).waitFor()
    await rowOf(page, 'orders.other').waitFor({ state: 'detached' })
    await rowOf(page, 'orders.paid').getByRole('link').click()
    await page.getByRole('region', { name: 'Run', exact: true }).getByRole('link', { name: 'order:4711' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Search by name, label, host or ID').fill('der:4711')
    await page.getByRole('option', { name: 'order:4711' }).waitFor()
    await page.getByPlaceholder('Search by name, label, host or ID').fill('order:4712')
    await page.getByText('Nothing has this name, label').waitFor()
    await page.getByRole('option', { name: 'Search the whole log' }).click()
    await page.getByText('payloads are not').waitFor()
    await takeScreenshots(page, 'log-not-found')
    await page.getByRole('link', { name: 'Search tasks' }).click()
    await page.waitForURL('**/tasks?name=order*')
  })

  it('follows J and K with the open run', async () => {
    await publishBroken()
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/log`)
    await rowOf(page, 'orders.broken').waitFor()
    await publish('orders.next', '/next')
    await rowOf(page, 'orders.next').getByRole('link').click()
    const run = page.getByRole('region', { name: 'Run', exact: true })
    await run.getByRole('heading', { name: 'orders.next' }).waitFor()
    await page.keyboard.press('j')
    await run.getByRole('heading', { name: 'orders.broken' }).waitFor()
    await page.keyboard.press('k')
    await run.getByRole('heading', { name: 'orders.next' }).waitFor()
    await page.goBack()
    await page.waitForURL(url => !url.pathname.includes('/run_'))
  })

  it('leads from failed runs to their dead letters', async () => {
    await publishBroken()
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/log?error=http_status&name=orders.broken&range=1h`)
    await rowOf(page, 'orders.broken').waitFor()
    await page.getByRole('link', { name: 'Dead letters' }).last().click()
    await page.waitForURL('**/dead-letters?name=orders.broken&error=http_status')
    await page.getByRole('region', { name: 'Dead letters' }).getByRole('link', { name: 'orders.broken' }).waitFor()
    await page.getByRole('button', { name: 'Replay all matching' }).waitFor()
  })

  it('replays selected runs and all that match, succeeded ones on request, and one with another payload', async () => {
    await publishBroken()
    await publish('orders.paid', '/paid-twice')
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/log`)
    for (const topic of ['orders.broken', 'orders.paid'])
      await rowOf(page, topic)
        .getByRole('checkbox', { name: `Select run of ${topic}` })
        .check()
    const selected = page.getByRole('region', { name: 'Selected runs' })
    await selected.getByText('2 runs selected').waitFor()
    await takeScreenshots(page, 'log-selected')
    await expectAccessible(page, ':slug/w/:ws/log')
    const appears = (topic: string, times: number) =>
      waitFor(
        () => rowOf(page, topic).count(),
        count => count === times,
        20_000,
      )
    const dialog = page.getByRole('dialog')
    await selected.getByRole('button', { name: 'Replay selected' }).click()
    await dialog.getByRole('heading', { name: 'Replay 1 task?' }).waitFor()
    await dialog.getByRole('checkbox', { name: 'Also replay 1 task that succeeded' }).check()
    await takeScreenshots(page, 'log-replay')
    await dialog.getByRole('button', { name: 'Replay 2 tasks' }).click()
    await page.getByText('2 of 2 replayed.').first().waitFor()
    await Promise.all([appears('orders.broken', 2), appears('orders.paid', 2)])

    await page.getByRole('combobox', { name: 'Time', exact: true }).selectOption('1h')
    await page.getByRole('button', { name: 'Response: Any status code' }).click()
    await page.getByRole('menuitemcheckbox', { name: '500' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Replay matching' }).click()
    // One is replayed already.
    await dialog.getByRole('button', { name: 'Replay 2 tasks' }).click()
    await page.getByText('1 of 2 replayed. The others are not dead letters.').first().waitFor()
    await appears('orders.broken', 3)
    expect(stage.receiver.requestsTo('/paid-twice').length, 'a filtered replay sends no other task').toBe(2)

    stage.receiver.answer('/broken', { status: 200 })
    await rowOf(page, 'orders.broken').getByRole('link').first().click()
    const run = page.getByRole('region', { name: 'Run', exact: true })
    await run.getByRole('link', { name: 'Replay with changes' }).click()
    await page.getByRole('heading', { name: 'Replay with changes', exact: true }).waitFor()
    await page.getByLabel('Payload').fill('{"order":43}')
    await takeScreenshots(page, 'replay-with-changes')
    await page.getByRole('button', { name: 'Replay', exact: true }).click()
    await page.getByText('Created by a replay').waitFor()
    await page.getByRole('link', { name: 'View original task' }).waitFor()
    await stage.receiver.waitFor(requests => requests.some(({ body }) => body.toString() === '{"order":43}'), 20_000)
  })

  it('hides credentials in the headers of a response until a user shows them who may read secrets', async () => {
    stage.receiver.answer('/session', { status: 200, headers: { 'set-cookie': 'sid=42', 'x-plain': 'as it is' } })
    await publish('orders.session', '/session')
    const openRun = async (page: Page) => {
      await page.goto(`${await stage.home()}/log`)
      await rowOf(page, 'orders.session').getByRole('link').click()
      await page.getByRole('cell', { name: 'as it is' }).waitFor()
      expect(await page.getByText('sid=42').count()).toBe(0)
      return page.getByRole('button', { name: 'Show set-cookie' })
    }
    const page = await stage.ownerPage()
    const show = await openRun(page)
    await takeScreenshots(page, 'run-credentials')
    await show.click()
    await page.getByRole('cell', { name: 'sid=42' }).waitFor()
    const viewer = await stage.newPage(await signUpViewer(stage))
    expect(await (await openRun(viewer)).getAttribute('aria-disabled')).toBe('true')
  })

  it('replays from a run, which covers a narrow screen', async () => {
    await publish('orders.paid', '/replayed')
    const page = await stage.ownerPage({ size: 'narrow' })
    await page.goto(`${await stage.home()}/log`)
    const row = rowOf(page, 'orders.paid')
    await row.getByText(`POST ${new URL(stage.receiver.url('/')).host}`).waitFor()
    await row.getByRole('checkbox', { name: 'Select run of orders.paid' }).check()
    await page.getByText('1 run selected').waitFor()
    await row.getByRole('link').click()
    const run = page.getByRole('region', { name: 'Run', exact: true })
    await run.getByText('HTTP status 200').waitFor()
    expect(await run.evaluate(panel => panel.getBoundingClientRect().width)).toBe(390)
    await run.getByRole('button', { name: 'Replay' }).click()
    await run.getByText('Replayed as').waitFor()
    await waitFor(
      async () => stage.receiver.requestsTo('/replayed').length,
      count => count === 2,
      20_000,
    )
    await expectAccessible(page, ':slug/w/:ws/log/:run')
    await run.getByRole('button', { name: 'Close run' }).click()
    await waitFor(
      () => rowOf(page, 'orders.paid').count(),
      count => count === 2,
      20_000,
    )
    await page.goto(`${await stage.home()}/log?status=success&topic=orders.paid`)
    const filters = page.getByRole('button', { name: 'Filters (2)' })
    await filters.waitFor()
    const [search, button] = [
      await page.getByPlaceholder('Name, label, host').boundingBox(),
      await filters.boundingBox(),
    ]
    expect(button?.y, 'the filters beside the search').toBeLessThan((search?.y ?? 0) + (search?.height ?? 0))
  })
})

async function exportAs(page: Page, format: string): Promise<void> {
  await page.getByRole('button', { name: 'Export' }).click()
  await page.getByRole('menuitem', { name: format }).click()
}
