import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { signUpViewer } from './sign-up-viewer.ts'
import { reloadAsAnotherTab, useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe('events and subscriptions in the dashboard', { timeout: 180_000 }, () => {
  const stage = useStage()

  const subscribe = async (page: Page, topic: string, path: string) => {
    await page.getByRole('button', { name: 'New subscription' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Topic' }).fill(topic)
    await dialog.getByRole('textbox', { name: 'Target' }).fill(stage.receiver.url(path))
    await dialog.getByRole('textbox', { name: 'Headers' }).fill('X-Shop: north')
    await dialog.getByRole('button', { name: 'Subscribe' }).click()
    await dialog.waitFor({ state: 'detached' })
  }

  it('sends a published event to every matching subscription', async () => {
    const page = await stage.ownerPage()
    const home = await stage.home()
    await page.goto(`${home}/subscriptions`)
    await page.getByRole('heading', { name: 'No subscriptions yet', exact: true }).waitFor()
    await takeScreenshots(page, 'subscriptions-empty')
    await subscribe(page, 'orders.*', '/all-orders')
    await subscribe(page, 'orders.paid', '/paid')
    await subscribe(page, 'users.*', '/users')
    expect(await page.getByRole('region', { name: 'Subscriptions' }).getByRole('row').count()).toBe(4)

    await page.goto(`${home}/events`)
    await page.getByRole('heading', { name: 'No events yet', exact: true }).waitFor()
    await takeScreenshots(page, 'events-empty')
    await page.getByRole('button', { name: 'Publish event' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Topic' }).fill('orders.paid')
    await dialog.getByText('Matches 2 subscriptions').waitFor()
    await dialog.getByRole('textbox', { name: 'Payload' }).fill('{ order: 42 }')
    await dialog.getByRole('button', { name: 'Publish' }).click()
    await dialog.getByText('Enter a JSON object.').waitFor()
    await expectAccessible(page, ':slug/w/:ws/events')
    await takeScreenshots(page, 'publish')
    await dialog.getByRole('textbox', { name: 'Payload' }).fill('{ "order": 42 }')
    await dialog.getByRole('button', { name: 'Publish' }).click()
    await dialog.getByText('was published to 2 targets').waitFor()
    await expectAccessible(page, ':slug/w/:ws/events')
    await takeScreenshots(page, 'published')
    await dialog.getByRole('button', { name: 'Done' }).click()
    await stage.receiver.waitFor(2, 20_000)
    expect(stage.receiver.requests.map(({ path }) => path).sort()).toEqual(['/all-orders', '/paid'])
    const [request] = stage.receiver.requestsTo('/paid')
    expect(String(request?.body)).toBe('{ "order": 42 }')
    expect(request?.rawHeaders).toContain('X-Shop')

    const row = page.getByRole('region', { name: 'Recent events' }).getByRole('row').nth(1)
    await row.getByText('Success').nth(1).waitFor()
    await expectAccessible(page, ':slug/w/:ws/events')
    await takeScreenshots(page, 'events')
    await row.getByRole('link', { name: 'orders.paid', exact: true }).click()
    await page.waitForURL('**/log?topic=orders.paid')
    await page.getByRole('link', { name: 'orders.paid' }).first().waitFor()
  })

  it('turns a subscription off, edits it and deletes it', async () => {
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/subscriptions`)
    const row = page.getByRole('row', { name: 'orders.*' })
    await row.getByText('orders.paid').waitFor()
    await expectAccessible(page, ':slug/w/:ws/subscriptions')
    await takeScreenshots(page, 'subscriptions')
    const isActive = async () =>
      (await stage.belfry.call('GET', '/api/v1/scheduler/subscriptions')).body.data.find(
        (one: { topic: string }) => one.topic === 'orders.*',
      )?.active
    await row.getByRole('switch').click()
    await expect.poll(isActive, { timeout: 10_000 }).toBe(false)

    const dialog = page.getByRole('dialog')
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { name: 'New subscription' }).click()
    await dialog.getByRole('heading', { name: 'New subscription', exact: true }).waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Edit users.*' }).click()
    const topic = dialog.getByRole('textbox', { name: 'Topic' })
    await topic.fill('users.')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Enter a topic such as orders.paid or orders.*').waitFor()
    await topic.fill('orders.*')
    await dialog.getByText('Every topic below').waitFor()
    await dialog.getByText('Matches recent topics').waitFor()
    await expectAccessible(page, ':slug/w/:ws/subscriptions')
    await takeScreenshots(page, 'subscription-edit')
    await topic.fill('users.new')
    const filter = dialog.getByRole('textbox', { name: 'Filter' })
    await filter.fill('plan eq pro')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Line 1: write text in double quotes').waitFor()
    await filter.fill('plan eq "pro"')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('row', { name: 'users.new' }).getByText('plan eq "pro"').waitFor()
    await page.getByRole('button', { name: 'Edit users.new' }).click()
    expect(await filter.inputValue()).toBe('plan eq "pro"')
    const { body } = await stage.belfry.call('GET', '/api/v1/scheduler/subscriptions')
    const { id } = body.data.find((one: { topic: string }) => one.topic === 'users.new')
    const path = `/api/v1/scheduler/subscriptions/${id}`
    await stage.belfry.call('PATCH', path, { active: false, labels: ['theirs'] })
    const isRead = page.waitForResponse('**/subscriptions?*')
    await reloadAsAnotherTab(page)
    await isRead
    await filter.fill('plan eq "free"')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { body: saved } = await stage.belfry.call('GET', path)
    expect(saved).toMatchObject({ active: false, labels: ['theirs'], filter: [{ value: 'free' }] })
    await page.getByRole('button', { name: 'Signing secret of users.new' }).click()
    await dialog.getByText('The signing secret of the workspace signs its calls.').waitFor()
    await dialog.getByRole('button', { name: 'Create secret' }).click()
    await dialog.getByText('Current').waitFor()
    await dialog.getByRole('button', { name: 'Rotate' }).click()
    await dialog.getByText('Previous').waitFor()
    await expectAccessible(page, ':slug/w/:ws/subscriptions')
    await takeScreenshots(page, 'subscription-secrets')
    await dialog.getByRole('button', { name: 'Use the workspace' }).click()
    await page.getByRole('button', { name: 'Delete secrets' }).click()
    await dialog.getByRole('button', { name: 'Create secret' }).waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Delete users.new' }).click()
    await dialog.getByRole('button', { name: 'Delete subscription' }).click()
    await page.getByRole('row', { name: 'users.new' }).waitFor({ state: 'detached' })
  })

  it('sends an event to one target, and reports one without subscriptions', async () => {
    const page = await stage.ownerPage({ size: 'narrow' })
    await page.goto(`${await stage.home()}/events`)
    await page.getByRole('button', { name: 'Publish event' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Topic' }).fill('no.subscription')
    await dialog.getByRole('button', { name: 'Publish' }).click()
    await dialog.getByText('No subscription matches').waitFor()
    await dialog.getByRole('button', { name: 'Publish another' }).click()
    await dialog.getByRole('radio', { name: 'A single target' }).check()
    await dialog.getByRole('textbox', { name: 'Target' }).fill(stage.receiver.url('/direct'))
    await dialog.getByRole('button', { name: 'Publish' }).click()
    await dialog.getByText('was published to 1 target').waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('row', { name: 'no.subscription' }).getByText('Success').waitFor()
    expect(stage.receiver.requestsTo('/direct')).toHaveLength(1)
  })

  it('shows a viewer everything, and why the actions are disabled', async () => {
    const page = await stage.newPage(await signUpViewer(stage))
    const home = await stage.home()
    for (const [path, name] of [
      ['events', 'Publish event'],
      ['subscriptions', 'New subscription'],
    ]) {
      await page.goto(`${home}/${path}`)
      const refused = page.getByRole('button', { name: name ?? '' }).first()
      await refused.focus()
      await page.getByRole('tooltip', { name: 'editor' }).waitFor()
      await refused.press('Enter')
      expect(await page.getByRole('dialog').count()).toBe(0)
    }
    const [refused, tooltip] = [
      page.getByRole('button', { name: 'New subscription' }).first(),
      page.getByRole('tooltip'),
    ]
    expect(await refused.getAttribute('aria-describedby')).toBe(await tooltip.getAttribute('id'))
    await page.keyboard.press('Escape')
    await tooltip.waitFor({ state: 'detached' })
    expect(await refused.getAttribute('aria-describedby')).toBeNull()
    await refused.hover()
    await tooltip.hover() // stays while the pointer is on it
    await page.waitForTimeout(300) // longer than it stays otherwise
    expect(await tooltip.count()).toBe(1)
    await page.mouse.move(0, 0)
    await tooltip.waitFor({ state: 'detached' })
    await page.goto(`${home}/log`)
    // Only the focus of a keyboard shows a tooltip.
    await page.getByRole('link', { name: 'orders.paid' }).first().press('Enter')
    await page.getByRole('button', { name: 'Replay', exact: true }).focus()
    await page.getByRole('tooltip', { name: 'editor' }).waitFor()
  })
})
