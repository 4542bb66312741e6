import { describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

const root = '/api/v1/scheduler'

describe('queue, deadline, labels and callbacks in the dashboard', { timeout: 180_000 }, () => {
  const stage = useStage()

  it('a subscription gets them, shows them again, and loses them', async () => {
    const { token = '', workspaceId } = stage.belfry.caller
    const secret = `/api/v1/workspaces/${workspaceId}/secrets/DONE_TOKEN`
    await stage.belfry.call('PUT', secret, { value: 'a value of it' }, { token })
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/subscriptions`)
    await page.getByRole('button', { name: 'New subscription' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('#secrets option[value="{{ secrets.DONE_TOKEN }}"]').waitFor({ state: 'attached' })
    await dialog.getByRole('textbox', { name: 'Topic' }).fill('flow.paid')
    await dialog.getByRole('textbox', { name: 'Target' }).fill(stage.receiver.url('/flow'))
    await dialog.getByText('Queue, deadline, labels and callbacks').click()
    await dialog.getByLabel('Queue').fill('not a name')
    await dialog.getByLabel('Maximum age').fill('0')
    await dialog.getByRole('button', { name: 'Subscribe' }).click()
    await dialog.getByText('Use letters, digits').waitFor()
    await dialog.getByText('Enter 1 to 1,209,600 seconds.').waitFor()
    await dialog.getByLabel('Queue').fill('partner')
    await dialog.getByLabel('Maximum age').fill('90')
    await dialog.getByLabel('Labels').fill('shop north')
    await dialog.getByLabel('On failure').fill(stage.receiver.url('/failed'))
    await expectAccessible(page, ':slug/w/:ws/subscriptions')
    await takeScreenshots(page, 'subscription-flow-fields')
    await dialog.getByRole('button', { name: 'Subscribe' }).click()
    await dialog.waitFor({ state: 'detached' })
    const read = async () => (await stage.belfry.call('GET', `${root}/subscriptions`)).body.data[0]
    expect(await read()).toMatchObject({
      queue: 'partner',
      max_age_ms: 90_000,
      labels: ['shop', 'north'],
      on_failure: { url: stage.receiver.url('/failed') },
      on_success: null,
    })
    await page.getByRole('row', { name: 'flow.paid' }).getByRole('button', { name: 'Edit' }).click()
    expect(await dialog.getByLabel('Maximum age').inputValue()).toBe('90')
    for (const label of ['Queue', 'Maximum age', 'Labels', 'On failure']) await dialog.getByLabel(label).fill('')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await read()).toMatchObject({ queue: null, max_age_ms: null, labels: [], on_failure: null })
  })

  it('a subscription gets delays of its own, shows them again, and gets a backoff', async () => {
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/subscriptions`)
    await page.getByRole('button', { name: 'New subscription' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Topic' }).fill('delays.own')
    await dialog.getByRole('textbox', { name: 'Target' }).fill(stage.receiver.url('/delays'))
    await dialog.getByLabel('Backoff').selectOption('Custom delays')
    await dialog.getByLabel('Delays (s)').fill('0, x')
    await dialog.getByRole('button', { name: 'Subscribe' }).click()
    await dialog.getByText('Enter 0 to 2,592,000 seconds.').waitFor()
    await dialog.getByLabel('Delays (s)').fill('0, 60')
    await dialog.getByText('The delays are exact.').waitFor()
    await dialog.getByRole('button', { name: 'Subscribe' }).click()
    await dialog.waitFor({ state: 'detached' })
    const read = async () =>
      (await stage.belfry.call('GET', `${root}/subscriptions`)).body.data.find(
        ({ topic }: { topic: string }) => topic === 'delays.own',
      )
    expect((await read()).retry).toEqual({ delays_ms: [0, 60_000] })
    await page.getByRole('row', { name: 'delays.own' }).getByRole('button', { name: 'Edit' }).click()
    expect(await dialog.getByLabel('Delays (s)').inputValue()).toBe('0, 60')
    await dialog.getByLabel('Backoff').selectOption('Fixed')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect((await read()).retry).toMatchObject({ max_retries: 5, backoff: 'fixed', max_delay_ms: 3_600_000 })
  })

  it('an event gets them', async () => {
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/events`)
    await page.getByRole('button', { name: 'Publish event' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Topic' }).fill('flow.sent')
    await dialog.getByLabel('A single target').check()
    await dialog.getByRole('textbox', { name: 'Target URL' }).fill(stage.receiver.url('/event'))
    await dialog.getByText('Queue, deadline, labels and callbacks').click()
    await dialog.getByLabel('Queue').fill('partner')
    await dialog.getByLabel('Maximum age').fill('60')
    await dialog.getByLabel('Labels').fill('shop')
    await dialog.getByLabel('On success').fill(stage.receiver.url('/done'))
    await expectAccessible(page, ':slug/w/:ws/events')
    await takeScreenshots(page, 'publish-flow-fields')
    await dialog.getByRole('button', { name: 'Publish' }).click()
    await dialog.getByText('was published to 1 target').waitFor()
    await stage.receiver.waitFor(() => stage.receiver.requestsTo('/done').length === 1, 20_000)
    const [task] = (await stage.belfry.call('GET', `${root}/tasks?topic=flow.sent&source=event`)).body.data
    expect(task).toMatchObject({ queue: 'partner', labels: ['shop'], expires_at: expect.any(String) })
  })

  it('a cron job gets them, and its page shows them', async () => {
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/cron-jobs/new`)
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Sync')
    await page.getByLabel('Target URL').fill(stage.receiver.url('/sync'))
    await page.getByRole('textbox', { name: 'Queue' }).fill('nightly')
    await page.getByText('Callbacks', { exact: true }).click()
    await page.getByLabel('On failure').fill(stage.receiver.url('/failed'))
    await page.getByText('Overlap, start, end, deadline and labels').click()
    await page.getByLabel('Maximum age').fill('600')
    await page.getByRole('textbox', { name: 'Labels' }).fill('sync')
    await expectAccessible(page, ':slug/w/:ws/cron-jobs/new')
    await takeScreenshots(page, 'new-cron-job-flow-fields')
    await page.getByRole('button', { name: 'Create cron job' }).click()
    await page.getByRole('heading', { name: 'Sync', exact: true }).waitFor()
    await page.getByText('nightly').waitFor()
    await page.getByText(stage.receiver.url('/failed')).waitFor()
    await expectAccessible(page, ':slug/w/:ws/cron-jobs/:cronJob')
    await takeScreenshots(page, 'cron-job-flow-fields')
    const [job] = (await stage.belfry.call('GET', `${root}/cronjobs`)).body.data
    expect(job).toMatchObject({ queue: 'nightly', max_age_ms: 600_000, labels: ['sync'] })
  })
})
