import { waitFor } from '@belfry/test-support/wait-for'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { useStage } from './stage.ts'

/** The hand of a user: acts on a page, and counts. Typed text does not count. */
type Hand = {
  page: Page
  clicks: number
  keys: number
  click(what: Locator): Promise<void>
  /** Chooses from a list, with one click that opens it and one on the option. */
  choose(list: Locator, option: string): Promise<void>
  press(key: string): Promise<void>
}

// Each begins on the overview.
describe('what users come for in the dashboard', { timeout: 180_000 }, () => {
  const stage = useStage()
  const scheduler = '/api/v1/scheduler'
  const cause = 'remaining connection slots are reserved'

  const begin = async (): Promise<Hand> => {
    const page = await stage.ownerPage()
    await page.goto(await stage.home())
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
    const hand: Hand = {
      page,
      clicks: 0,
      keys: 0,
      async click(what) {
        await what.click()
        hand.clicks += 1
      },
      async choose(list, option) {
        await list.selectOption(option)
        hand.clicks += 2
      },
      async press(key) {
        await page.keyboard.press(key)
        hand.keys += 1
      },
    }
    return hand
  }
  const goTo = ({ page, click }: Hand, name: string) =>
    click(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }))
  const openSettings = async (hand: Hand, name: string) => {
    await goTo(hand, 'Settings')
    await hand.click(hand.page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name, exact: true }))
  }
  const rowOf = (page: Page, table: string, name: string) =>
    page.getByRole('region', { name: table, exact: true }).getByRole('row').filter({ hasText: name }).first()

  const publish = (topic: string, path: string, more: object = {}) =>
    stage.belfry.call('POST', '/api/events', {
      ...{ topic, payload: { order_id: 4711 }, target_url: stage.receiver.url(path) },
      ...{ retry: { max_retries: 0 }, ...more },
    })

  beforeAll(async () => {
    const { belfry, receiver } = stage
    receiver.answer('/outage', { status: 500, body: cause })
    receiver.answer('/bad-order', { status: 422, body: 'no such order' })
    await Promise.all([
      publish('orders.charged', '/outage'),
      publish('orders.shipped', '/outage'),
      publish('orders.wrong', '/bad-order'),
      publish('orders.paid', '/paid', { labels: ['order:{{ payload.order_id }}'] }),
    ])
    const hourly = { name: 'Hourly report', cron: '0 * * * *', method: 'POST', url: receiver.url('/report') }
    const { body: job } = await belfry.call('POST', `${scheduler}/cronjobs`, hourly)
    await belfry.call('POST', `${scheduler}/cronjobs/${job.id}/trigger`)
    await waitFor(
      async () => (await belfry.call('GET', `${scheduler}/runs`)).body.data.length,
      count => count === 5,
      30_000,
    )
    await belfry.execute(
      `UPDATE runs SET scheduled_at = scheduled_at - interval '2 minutes'
       WHERE task_id IN (SELECT task_id FROM task_requests WHERE url = $1)`,
      [hourly.url],
    )
  }, 60_000)

  it('1: a first task, in 3 clicks', async () => {
    const hand = await begin()
    const { page } = hand
    await hand.click(page.getByRole('link', { name: 'New task' }))
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('First task')
    await hand.click(page.getByRole('button', { name: 'in 1 minute' }))
    await page.getByLabel('Target URL').fill(stage.receiver.url('/first'))
    await hand.click(page.getByRole('button', { name: 'Create task' }))
    await page.getByRole('heading', { name: 'First task', exact: true }).waitFor()
    expect(hand.clicks).toBe(3)
  })

  it('2: a cron job for the first Monday of the month at 9:00 in Berlin, in 6 clicks', async () => {
    const hand = await begin()
    const { page } = hand
    await goTo(hand, 'Cron jobs')
    await hand.click(page.getByRole('link', { name: 'New cron job' }))
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Invoices')
    await hand.click(page.getByRole('button', { name: 'First Monday' }))
    await hand.choose(page.getByRole('combobox', { name: 'Time zone', exact: true }), 'Europe/Berlin')
    await page.getByLabel('Target URL').fill(stage.receiver.url('/invoices'))
    await hand.click(page.getByRole('button', { name: 'Create cron job' }))
    await page.getByRole('heading', { name: 'Invoices', exact: true }).waitFor()
    expect(hand.clicks).toBe(6)
    const { body } = await stage.belfry.call('GET', `${scheduler}/cronjobs`)
    const [next] = body.data.find(({ name }: { name: string }) => name === 'Invoices').next_runs
    const local = new Intl.DateTimeFormat('en-GB', {
      ...{ timeZone: 'Europe/Berlin', weekday: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' },
    })
    expect(local.format(new Date(next))).toMatch(/^Mon,? [1-7],? (at )?09:00$/)
  })

  it('3: why calls to a host failed, in no click, and their replay without others, in 3', async () => {
    const hand = await begin()
    const { page } = hand
    const group = rowOf(page, 'Failures', cause)
    await group.waitFor()
    expect(hand.clicks).toBe(0)
    await hand.click(group.getByRole('link', { name: '500' }))
    await hand.click(page.getByRole('button', { name: 'Replay matching' }))
    await hand.click(page.getByRole('dialog').getByRole('button', { name: 'Replay 2 tasks' }))
    await page.getByText('2 of 2 replayed.').first().waitFor()
    expect(hand.clicks).toBe(3)
    await stage.receiver.waitFor(requests => requests.filter(({ path }) => path === '/outage').length === 4, 20_000)
    expect(stage.receiver.requestsTo('/bad-order')).toHaveLength(1)
  })

  it('4: the call with an id in its payload, in 2 clicks', async () => {
    const hand = await begin()
    const { page } = hand
    await goTo(hand, 'Activity log')
    await rowOf(page, 'Runs', 'orders.paid').waitFor()
    await hand.press('/')
    await page.keyboard.type('order:4711')
    await hand.press('Enter')
    await page.getByRole('button', { name: 'Remove filter: Label order:4711' }).waitFor()
    await hand.click(rowOf(page, 'Runs', 'orders.paid').getByRole('link'))
    await page.getByRole('region', { name: 'Run', exact: true }).getByRole('link', { name: 'order:4711' }).waitFor()
    expect([hand.clicks, hand.keys]).toEqual([2, 2])
  })

  it('5: the rotation of the signing secret, in 4 clicks', async () => {
    const hand = await begin()
    const { page } = hand
    await openSettings(hand, 'Signing secrets')
    await hand.click(page.getByRole('button', { name: 'Rotate' }))
    await hand.click(page.getByRole('dialog').getByRole('button', { name: 'Rotate' }))
    await page.getByText('Previous, expires').waitFor()
    expect(hand.clicks).toBe(4)
  })

  it('6: the invitation of a viewer, in 5 clicks', async () => {
    const hand = await begin()
    const { page } = hand
    const email = 'viewer@walks.example'
    await openSettings(hand, 'Invitations')
    await hand.click(page.getByRole('button', { name: 'Invite member' }).first())
    await page.getByLabel('Email address').fill(email)
    await hand.click(page.getByRole('dialog').getByRole('checkbox', { name: 'Main' }))
    await hand.click(page.getByRole('button', { name: 'Send invitation' }))
    await rowOf(page, 'Invitations', email).getByText('Viewer in Main').waitFor()
    expect(hand.clicks).toBe(5)
  })

  it('7: a stop of everything to one host, in 2 clicks', async () => {
    const hand = await begin()
    const { page } = hand
    const { host } = new URL(stage.receiver.url('/'))
    await goTo(hand, 'Hosts')
    await hand.click(rowOf(page, 'Hosts', host).getByRole('button', { name: `Pause ${host}` }))
    await page.getByText(`${host} paused`, { exact: true }).waitFor()
    expect(hand.clicks).toBe(2)
    const path = `${scheduler}/hosts/${encodeURIComponent(host)}`
    expect((await stage.belfry.call('GET', path)).body.paused_at).not.toBeNull()
    await stage.belfry.call('POST', `${path}/resume`)
  })

  it('8: what runs in an hour to come, in 1 click, and when a cron job was late, in 5', async () => {
    const hand = await begin()
    const { page } = hand
    await hand.click(
      page
        .getByRole('img', { name: /^Next 24 hours/ })
        .locator('[title]')
        .nth(2),
    )
    await page.getByRole('table', { name: 'Due in this hour' }).getByRole('link', { name: 'Hourly report' }).waitFor()
    expect(hand.clicks).toBe(1)

    hand.clicks = 0
    await goTo(hand, 'Cron jobs')
    await hand.click(rowOf(page, 'Cron jobs', 'Hourly report').getByRole('link'))
    await hand.click(page.getByRole('tab', { name: 'Runs' }))
    await hand.choose(page.getByRole('combobox', { name: 'Lag' }), '60000')
    await page.waitForURL('**?late_ms=60000')
    await page.getByRole('region', { name: 'Runs' }).getByText('Success').waitFor()
    expect(hand.clicks).toBe(5)
  })

  it('9: a first task by keyboard, in 8 keys beside the text', async () => {
    const hand = await begin()
    const { page } = hand
    const tabTo = async (field: Locator) => {
      do await hand.press('Tab')
      while (hand.keys < 40 && !(await field.evaluate(element => element.matches(':focus'))))
    }
    await hand.press('c')
    await page.locator('input[name=name]:focus').waitFor()
    await page.keyboard.type('By keyboard')
    await tabTo(page.getByRole('textbox', { name: 'When', exact: true }))
    await page.keyboard.type('in 1 minute')
    await tabTo(page.getByLabel('Target URL'))
    await page.keyboard.type(stage.receiver.url('/by-keyboard'))
    await hand.press('Control+Enter')
    await page.getByRole('heading', { name: 'By keyboard', exact: true }).waitFor()
    expect([hand.clicks, hand.keys]).toEqual([0, 8])
  })

  it('10: the first row of a list by keyboard, in 1 key, or in 3 as screen readers offer it', async () => {
    const hand = await begin()
    const { page } = hand
    const isOnRow = () => page.locator('[data-row-link]:focus').count()
    for (const [path, table, name] of [
      ['log', 'Runs', 'orders.paid'],
      ['dead-letters', 'Dead letters', 'orders.wrong'],
      ['tasks', 'Tasks', 'orders.paid'],
    ] as const) {
      for (const keys of [['j'], ['Tab', 'Tab', 'Enter']]) {
        await page.goto(`${await stage.home()}/${path}`)
        await rowOf(page, table, name).waitFor()
        for (const key of keys) await hand.press(key)
        await expect.poll(isOnRow, { message: `${path} after ${keys}` }).toBe(1)
      }
    }
    expect(hand.clicks).toBe(0)
  })
})
