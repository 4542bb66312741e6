import { waitFor } from '@belfry/test-support/wait-for'
import { describe, expect, it } from 'vitest'
import { inMs } from '../api-calls.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

const tasks = '/api/v1/scheduler/tasks'

describe('callbacks and raw bodies in the dashboard', { timeout: 180_000 }, () => {
  const stage = useStage()

  it('a task gets a callback in its form, and its page leads to the callback and back', async () => {
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/tasks/new`)
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Report')
    await page.getByRole('textbox', { name: 'When', exact: true }).fill('in 3 seconds')
    await page.getByLabel('Target URL').fill(stage.receiver.url('/report'))
    await page.getByText('Callbacks', { exact: true }).click()
    await page.getByLabel('On success').fill('example.com')
    await page.getByLabel('On success').blur()
    await page.getByText('The URL must be absolute').waitFor()
    await page.getByLabel('On success').fill(stage.receiver.url('/done'))
    await takeScreenshots(page, 'new-task-callbacks')
    await page.getByRole('button', { name: 'Create task' }).click()
    await page.getByRole('heading', { name: 'Report', exact: true }).waitFor()
    await page.getByText(stage.receiver.url('/done')).waitFor()
    await stage.receiver.waitFor(() => stage.receiver.requestsTo('/done').length === 1, 20_000)
    await takeScreenshots(page, 'task-callbacks')
    await page.getByRole('link', { name: 'View callbacks' }).click()
    await page.getByRole('link', { name: 'on_success of Report' }).click()
    await page.getByRole('heading', { name: 'on_success of Report', exact: true }).waitFor()
    await page.getByText('Created by a callback').waitFor()
    await page.getByRole('link', { name: 'View reported task' }).click()
    await page.getByRole('heading', { name: 'Report', exact: true }).waitFor()
  })

  it('a duplicate of a task keeps its raw body and its callbacks', async () => {
    const raw = { payload_base64: Buffer.from([0, 255, 1]).toString('base64'), content_type: 'image/png' }
    const on_failure = { url: stage.receiver.url('/failed'), headers: { 'X-Own': '1' } }
    const request = { url: stage.receiver.url('/raw'), method: 'POST', execute_at: inMs(1_500) }
    const { body: task } = await stage.belfry.call('POST', tasks, { ...request, name: 'Picture', ...raw, on_failure })
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/tasks/new?from=${task.id}`)
    await page.getByText('Sends the raw body, 3 bytes of image/png').waitFor()
    expect(await page.getByRole('figure', { name: 'request' }).textContent()).toContain('Content-Type: image/png')
    await takeScreenshots(page, 'new-task-raw-body')
    await page.getByRole('textbox', { name: 'When', exact: true }).fill('in 2 hours')
    await page.getByRole('button', { name: 'Create task' }).click()
    await page.getByRole('heading', { name: 'Picture', exact: true }).waitFor()
    const { data } = (await stage.belfry.call('GET', `${tasks}?name=Picture`)).body
    expect(data).toHaveLength(2)
    expect(data[0]).toMatchObject({ ...raw, on_failure })

    const sent = await waitFor(
      async () => (await stage.belfry.call('GET', `${tasks}/${task.id}`)).body,
      ({ state }) => state === 'success',
    )
    await page.goto(`${await stage.home()}/log/${sent.last_run.id}`)
    await page.getByRole('heading', { name: 'Picture' }).first().waitFor()
    await takeScreenshots(page, 'run-raw-body')
  })
})
