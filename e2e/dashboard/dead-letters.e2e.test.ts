import { waitFor } from '@belfry/test-support/wait-for'
import { describe, expect, it } from 'vitest'
import { inMs } from '../api-calls.ts'
import { expectAccessible } from './expect-accessible.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe('dead letters in the dashboard', { timeout: 180_000 }, () => {
  const stage = useStage({}, ['api', 'scheduler', 'dispatcher'])
  const deadLetters = '/api/v1/scheduler/dead-letters'

  /** Creates dead letters of a topic, as if their target had been down. */
  const kill = async (topic: string, count: number) => {
    stage.receiver.answer(`/${topic}`, [
      { status: 500, body: 'down' },
      { status: 200, body: 'up' },
    ])
    await stage.belfry.call('POST', '/api/events', {
      topic,
      payload: {},
      target_url: stage.receiver.url(`/${topic}`),
      retry: { max_retries: 0 },
    })
    await waitFor(
      async () => (await stage.belfry.call('GET', `${deadLetters}?topic=${topic}`)).body.data.length,
      found => found > 0,
    )
    await stage.belfry.execute(`
      WITH model AS (
        SELECT t.workspace_id, r.* FROM tasks t JOIN task_requests r ON r.task_id = t.id
        WHERE r.topic = '${topic}' AND t.state = 'dead' LIMIT 1
      ), copied AS (
        INSERT INTO tasks (id, workspace_id, source, state, attempts, execute_at, due_at, finished_at)
        SELECT (substr(uuid_v7_floor(clock_timestamp())::text, 1, 13) || '-7000-a000-' || lpad(to_hex(n), 12, '0'))::uuid,
               model.workspace_id, 'event', 'dead', 1, now(), now(), now()
        FROM model, generate_series(2, ${count}) AS n RETURNING id
      )
      INSERT INTO task_requests (task_id, name, url, method, headers, payload, max_retries, backoff, base_delay_ms,
                                 max_delay_ms, timeout_ms, topic)
      SELECT copied.id, name, url, method, headers, payload, max_retries, backoff, base_delay_ms, max_delay_ms,
             timeout_ms, topic
      FROM copied, model`)
  }

  it('lists a failed task, and replays it once the target works', async () => {
    stage.receiver.answer('/flaky', [
      { status: 503, body: 'down for repairs' },
      { status: 200, body: 'fine' },
    ])
    const page = await stage.ownerPage()
    const home = await stage.home()
    await page.goto(`${home}/dead-letters`)
    await page.getByRole('heading', { name: 'No dead letters', exact: true }).waitFor()
    await expectAccessible(page)
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
    await row.getByRole('link', { name: '503' }).click()
    await page.getByText('down for repairs').waitFor()
    await page.getByText('No retries left').waitFor()
    await page.goBack()
    await row.getByRole('checkbox').click()
    await page.getByRole('button', { name: 'Replay 1 selected' }).click()
    await page.getByRole('dialog').waitFor()
    await expectAccessible(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Replay', exact: true }).click()
    await page.getByText('1 dead letter replayed').first().waitFor()
    await page.getByRole('heading', { name: 'No dead letters', exact: true }).waitFor()
    await stage.receiver.waitFor(requests => requests.filter(({ path }) => path === '/flaky').length === 2, 20_000)
    await page.goto(`${home}/log?status=success`)
    await page.getByRole('link', { name: 'Nightly report' }).click()
    await page.getByText('HTTP status 200').waitFor()
  })

  it('replays many in the background and shows the progress; others stay', async () => {
    await kill('orders.paid', 1100)
    await kill('users.new', 3)
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/dead-letters`)
    await page.getByRole('link', { name: 'users.new' }).first().waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'dead-letters')
    await page.getByRole('button', { name: 'Error: All errors' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Timeout' }).click()
    await page.getByRole('heading', { name: 'No matching dead letters', exact: true }).waitFor()
    await page.getByRole('menuitemcheckbox', { name: 'HTTP status' }).click()
    await page.waitForURL('**/dead-letters?error=timeout&error=http_status')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Error: HTTP status, Timeout' }).waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByRole('textbox', { name: 'Exact topic' }).fill('orders.paid')
    await page.waitForURL('**/dead-letters?topic=orders.paid')
    await page.getByRole('button', { name: 'Replay all matching' }).click()
    await page.getByRole('heading', { name: 'Replay all matching dead letters (more than 1,000)?' }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'dead-letters-replay')
    await page.getByRole('button', { name: 'Replay 5 as a test' }).click()
    await page.getByText('5 dead letters replayed').first().waitFor()
    await page.getByRole('button', { name: 'Replay all matching' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Replay', exact: true }).click()
    await page.waitForURL('**&operation=op_*')
    await page.getByRole('region', { name: 'Bulk action' }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'dead-letters-operation')
    await page.reload()
    await page.getByText('Replayed 1,095 dead letters.').waitFor({ timeout: 60_000 })
    await page.getByRole('heading', { name: 'No matching dead letters', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('link', { name: 'users.new' }).first().waitFor()

    await page.getByRole('button', { name: 'Discard all' }).click()
    await page.getByRole('heading', { name: 'Discard 3 dead letters?' }).waitFor()
    await page
      .getByRole('list', { name: 'Hosts' })
      .getByText(new URL(stage.receiver.url('/')).host)
      .waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Discard', exact: true }).click()
    await page.getByText('3 dead letters discarded').first().waitFor()
    await page.getByRole('heading', { name: 'No dead letters', exact: true }).waitFor()
  })

  it('cancels a bulk action; the remaining dead letters stay', async () => {
    // Without a scheduler the action makes no progress.
    const scheduler = stage.belfry.services.find(({ name }) => name === 'scheduler')
    await kill('slow.topic', 1001)
    await scheduler?.stop('SIGTERM')
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/dead-letters?topic=slow.topic`)
    await page.getByRole('button', { name: 'Replay all matching' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Replay', exact: true }).click()
    const action = page.getByRole('region', { name: 'Bulk action' })
    await action.getByText('Replaying in the background: 0 of 1,001').waitFor()
    await action.getByRole('button', { name: 'Cancel' }).click()
    await action.getByText('Cancelled after 0 of 1,001.').waitFor()
    await action.getByRole('button', { name: 'Close' }).click()
    await action.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'slow.topic' }).first().waitFor()
  })
})
