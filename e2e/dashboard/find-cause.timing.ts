import { waitFor } from '@belfry/test-support/wait-for'
import { describe, expect, it } from 'vitest'
import { inMs } from '../api-calls.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

const before = 99_000
const failing = 1_000

describe('the cause of failures in the dashboard', { timeout: 300_000 }, () => {
  const stage = useStage({ env: { CIRCUIT_FAILURE_PERCENT: '0' } })

  // Successes of the last hour. A trigger counts each statement, as for those of a dispatcher.
  const succeedOften = async () => {
    await stage.belfry.call('POST', '/api/events', { topic: 'a', payload: {}, target_url: stage.receiver.url('/') })
    const listed = async () => (await stage.belfry.call('GET', '/api/v1/scheduler/runs')).body.data.length
    await waitFor(listed, found => found > 0)
    await stage.belfry.execute(`
      INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at, response_status)
      SELECT (substr(uuid_v7_floor(at)::text, 1, 13) || '-7000-a000-' || lpad(to_hex(n), 12, '0'))::uuid, workspace_id,
             task_id, 1, 'event', 'success', at, at, at, 200
      FROM (SELECT workspace_id, task_id FROM runs LIMIT 1) AS model,
           LATERAL (SELECT n, now() - n * interval '10 ms' AS at FROM generate_series(1, ${before - 1}) AS n) AS aged`)
  }

  it('is three clicks away, within ten seconds, when the last 1,000 of 100,000 runs fail', async () => {
    await succeedOften()
    const page = await stage.ownerPage()
    await page.goto(await stage.home())
    const figures = page.locator('dl').filter({ hasText: 'Success rate' })
    await figures.getByText('99,000', { exact: true }).waitFor({ timeout: 60_000 })

    stage.receiver.answer('/broken', { status: 500, body: 'The connection pool is exhausted.' })
    const task = {
      ...{ name: 'Charge subscription', url: stage.receiver.url('/broken'), method: 'POST' },
      ...{ execute_at: inMs(4_000), retry: { max_retries: 0 } },
    }
    const { status } = await stage.belfry.call('POST', '/api/v1/scheduler/tasks/batch', {
      tasks: Array(failing).fill(task),
    })
    expect(status).toBe(200)
    await stage.receiver.waitFor(
      requests => requests.filter(({ path }) => path === '/broken').length === failing,
      60_000,
    )
    const lastAt = performance.now()
    await figures.getByText('1,000', { exact: true }).waitFor()
    await figures.getByText('100,000', { exact: true }).waitFor()
    await figures.getByText(/^99.0\s?%$/).waitFor()
    const group = page.getByRole('region', { name: 'Failures' }).getByRole('row', { name: '500' })
    await group.getByText('1,000', { exact: true }).waitFor()
    const shownMs = performance.now() - lastAt
    expect(shownMs).toBeLessThan(10_000)
    await takeScreenshots(page, 'find-cause-overview')

    await group.getByRole('link', { name: '500' }).click()
    const runs = page.getByRole('region', { name: 'Runs' })
    await runs.getByRole('link', { name: 'Charge subscription' }).first().waitFor()
    await takeScreenshots(page, 'find-cause-log')
    await runs.getByRole('link', { name: 'Charge subscription' }).first().click()
    const run = page.getByRole('region', { name: 'Run', exact: true })
    await run.getByText('HTTP status 500').waitFor()
    await run.getByRole('region', { name: 'response body' }).getByText('The connection pool is exhausted.').waitFor()
    await takeScreenshots(page, 'find-cause-run')
    await run.getByRole('tab', { name: 'Request' }).click()
    await run.getByText(task.url).first().waitFor()
    process.stdout.write(`The overview showed 1,000 failures after ${Math.round(shownMs)} ms.\n`)
  })
})
