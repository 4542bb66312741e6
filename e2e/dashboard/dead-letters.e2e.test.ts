import { describe, expect, it } from 'vitest'
import { inMs } from '../api-calls.ts'
import { expectAccessible } from './expect-accessible.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe('dead letters in the dashboard', { timeout: 180_000 }, () => {
  const stage = useStage()

  it('lists a failed task, and replays it once the target works', async () => {
    stage.receiver.answer('/flaky', [
      { status: 503, body: 'down for repairs' },
      { status: 200, body: 'fine' },
    ])
    const page = await stage.ownerPage()
    const home = await stage.home()
    await page.goto(`${home}/dead-letters`)
    await page.getByRole('heading', { name: 'No dead letters', exact: true }).waitFor()
    await takeScreenshots(page, 'dead-letters-empty')
    const body = {
      name: 'Nightly report',
      url: stage.receiver.url('/flaky'),
      method: 'POST',
      execute_at: inMs(500),
      retry: { max_retries: 0 },
    }
    expect((await stage.belfry.call('POST', '/api/v1/scheduler/tasks', body)).status).toBe(201)

    const row = page.getByRole('region', { name: 'Dead letters' }).getByRole('row', { name: 'Nightly report' })
    await row.waitFor({ timeout: 30_000 })
    const counted = page.getByRole('link', { name: 'Dead letters, 1', exact: true })
    await counted.waitFor()
    await row.getByRole('link', { name: '503' }).click()
    await page.getByRole('region', { name: 'response body' }).getByText('down for repairs').waitFor()
    await page.getByText('No retries left').waitFor()
    await page.goBack()
    await row.getByRole('checkbox').click()
    await expectAccessible(page, ':slug/w/:ws/dead-letters')
    await page.getByRole('button', { name: 'Replay 1 selected' }).click()
    await page.getByRole('dialog').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Replay', exact: true }).click()
    await page.getByText('1 dead letter replayed').first().waitFor()
    await counted.waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: 'No dead letters', exact: true }).waitFor()
    await stage.receiver.waitFor(requests => requests.filter(({ path }) => path === '/flaky').length === 2, 20_000)
    await page.goto(`${home}/log?status=success`)
    await page.getByRole('link', { name: 'Nightly report' }).click()
    await page.getByText('HTTP status 200').waitFor()
  })
})
