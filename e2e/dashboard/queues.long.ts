import { waitFor } from '@belfry/test-support/wait-for'
import { describe, expect, it } from 'vitest'
import { inMs } from '../api-calls.ts'
import { expectAccessible } from './expect-accessible.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe('queues in the dashboard', { timeout: 240_000 }, () => {
  const stage = useStage()
  const root = '/api/v1/scheduler'

  it('shows what waits in each queue, creates one, pauses, resumes and deletes it', async () => {
    stage.receiver.answer('/slow', { status: 200, delayMs: 20_000 })
    const execute_at = inMs(2_000)
    const create = (i: number) =>
      stage.belfry.call('POST', `${root}/tasks`, {
        ...{ name: `Sync ${i}`, url: stage.receiver.url('/slow'), method: 'POST', execute_at },
        queue: { name: 'partner-api', max_concurrent: 2, rate_limit: { count: 100, period_ms: 60_000 } },
      })
    await Promise.all(Array.from({ length: 6 }, (_, i) => create(i)))
    const load = async () => (await stage.belfry.call('GET', `${root}/queues/partner-api`)).body
    await waitFor(load, ({ waiting, in_flight }) => waiting === 4 && in_flight === 2, 30_000)

    // A queue with a task refuses its deletion.
    const page = await stage.ownerPage({ expected: /(404 \(Not Found\)|409 \(Conflict\)) .*\/queues\/customer-42$/ })
    await page.goto(`${await stage.home()}/queues`)
    const table = page.getByRole('region', { name: 'Queues' })
    const row = table.getByRole('row', { name: 'partner-api' })
    await row.getByText('2 of 2').waitFor()
    await row.getByText('2 at a time').waitFor()
    await expectAccessible(page, ':slug/w/:ws/queues')
    const otherTask = { name: 'In no queue', url: stage.receiver.url('/fine'), method: 'POST' }
    await stage.belfry.call('POST', `${root}/tasks`, { ...otherTask, execute_at: inMs(3_600_000) })
    await row.getByRole('link', { name: 'partner-api' }).click()
    const tasks = page.getByRole('region', { name: 'Tasks' })
    await tasks.getByRole('link', { name: 'Sync 0' }).waitFor()
    expect(await tasks.getByRole('link').allTextContents()).toHaveLength(6)
    expect(await page.getByRole('textbox', { name: 'Queue' }).inputValue()).toBe('partner-api')
    await page.goBack()

    await page.getByRole('button', { name: 'New queue' }).click()
    await page.getByLabel('Name').fill('customer-42')
    await page.getByLabel('Calls at a time').fill('0')
    await page.getByRole('button', { name: 'Create queue' }).click()
    await page.getByText('Enter a whole number from 1 to 1,000.').waitFor()
    await expectAccessible(page, ':slug/w/:ws/queues')
    await page.getByLabel('Calls at a time').fill('1')
    await page.getByRole('button', { name: 'Create queue' }).click()
    const made = table.getByRole('row', { name: 'customer-42' })
    await made.getByText('1 at a time').waitFor()
    await made.getByRole('button', { name: 'Pause' }).click()
    await made.getByText('Paused').waitFor()
    expect((await stage.belfry.call('GET', `${root}/queues/customer-42`)).body).toMatchObject({
      max_concurrent: 1,
      paused_at: expect.any(String),
    })
    await takeScreenshots(page, 'queues')
    await page.getByRole('button', { name: 'New queue' }).click()
    await page.getByLabel('Name').fill('customer-42')
    await page.getByRole('button', { name: 'Create queue' }).click()
    await page.getByText('There is a queue with this name.').waitFor()
    await page.keyboard.press('Escape')
    await made.getByText('1 at a time').waitFor()
    await made.getByRole('button', { name: 'Resume' }).click()
    await made.getByRole('button', { name: 'Pause' }).waitFor()

    // The slow calls may have ended meanwhile.
    await stage.belfry.call('POST', `${root}/queues/partner-api/pause`)
    const listed = await stage.belfry.call('GET', `${root}/tasks?queue=partner-api&state=pending&limit=1`)
    await page.goto(`${await stage.home()}/tasks/${listed.body.data[0].id}`)
    await page.getByText('Waiting for the queue partner-api').waitFor()
    await takeScreenshots(page, 'task-in-queue')

    await page.goto(`${await stage.home()}/tasks/new`)
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('In a queue')
    await page.getByLabel('Target URL').fill(stage.receiver.url('/fine'))
    await page.getByRole('textbox', { name: 'When', exact: true }).fill('in 1 hour')
    await page.getByRole('textbox', { name: 'Queue' }).fill('customer-42')
    await page.getByRole('button', { name: 'Create task' }).click()
    await page.getByText('Task scheduled', { exact: true }).waitFor()
    await page.getByText('customer-42').waitFor()

    await page.goto(`${await stage.home()}/queues`)
    await page.getByRole('button', { name: 'Delete customer-42' }).click()
    await page.getByRole('button', { name: 'Delete queue' }).click()
    await page.getByText('The queue has unfinished tasks').first().waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    const left = await stage.belfry.call('GET', `${root}/tasks?queue=customer-42&limit=1`)
    await stage.belfry.call('DELETE', `${root}/tasks/${left.body.data[0].id}`)
    await page.getByRole('button', { name: 'Delete customer-42' }).click()
    await page.getByRole('button', { name: 'Delete queue' }).click()
    await page.getByText('customer-42 deleted', { exact: true }).waitFor()
    await made.waitFor({ state: 'detached' })
  })
})
