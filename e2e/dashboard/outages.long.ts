import { waitFor } from '@belfry/test-support/wait-for'
import { describe, expect, it } from 'vitest'
import { inMs } from '../api-calls.ts'
import { expectAccessible } from './expect-accessible.ts'
import { makeDeadLetters } from './make-dead-letters.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe('bulk actions and outages in the dashboard', { timeout: 240_000 }, () => {
  const stage = useStage({ services: ['api', 'scheduler', 'dispatcher'] })
  const root = '/api/v1/scheduler'

  const kill = (name: string) =>
    Promise.all(stage.belfry.services.filter(one => one.name === name).map(one => one.stop('SIGKILL')))

  it('says within ten seconds that no dispatcher or scheduler runs, or the database is away', async () => {
    const page = await stage.ownerPage({ expected: /503|ERR_/ })
    await page.goto(await stage.home())
    await page.getByText('Success rate').waitFor()
    expect(await page.getByText(/^No (dispatcher|scheduler) is running/).count()).toBe(0)

    await kill('dispatcher')
    await page.getByText('No dispatcher is running.').waitFor({ timeout: 10_000 })
    await expectAccessible(page, ':slug/w/:ws')
    await takeScreenshots(page, 'no-dispatcher')
    const missed = { name: 'Missed', url: stage.receiver.url('/fine'), method: 'POST', execute_at: inMs(500) }
    const { id } = (await stage.belfry.call('POST', `${root}/tasks`, missed)).body
    const lateAt = Date.parse(missed.execute_at) + 1_000
    await waitFor(
      async () => Date.now(),
      now => now > lateAt,
    )
    await stage.belfry.start('dispatcher')
    await page.getByText('No dispatcher is running.').waitFor({ state: 'detached', timeout: 10_000 })
    const runsOf = async () => (await stage.belfry.call('GET', `${root}/runs?task_id=${id}`)).body.data
    const [late] = await waitFor(runsOf, runs => runs.length > 0, 20_000)
    expect(late.waited_for).toBe('dispatcher')

    await kill('scheduler')
    await page.getByText('No scheduler is running.').waitFor({ timeout: 10_000 })
    await stage.belfry.start('scheduler')
    await page.getByText('No scheduler is running.').waitFor({ state: 'detached', timeout: 10_000 })

    const away = { status: 503, contentType: 'application/problem+json', body: '{"code":"unavailable","status":503}' }
    await page.route('**/scheduler/status', route => route.fulfill(away))
    await page.getByText('The database is unavailable.').waitFor({ timeout: 10_000 })
    await page.unroute('**/scheduler/status')
    await page.getByText('The database is unavailable.').waitFor({ state: 'detached', timeout: 10_000 })
  })
  it('replays many in the background and shows the progress; others stay', async () => {
    await makeDeadLetters(stage, 'orders.paid', 1100)
    await makeDeadLetters(stage, 'users.new', 3)
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/dead-letters`)
    await page.getByRole('link', { name: 'users.new' }).first().waitFor()
    await expectAccessible(page, ':slug/w/:ws/dead-letters')
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
    await expectAccessible(page, ':slug/w/:ws/dead-letters')
    await takeScreenshots(page, 'dead-letters-replay')
    await page.getByRole('button', { name: 'Replay 5 as a test' }).click()
    await page.getByText('5 dead letters replayed').first().waitFor()
    await page.getByRole('button', { name: 'Replay all matching' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Replay', exact: true }).click()
    await page.waitForURL('**&operation=op_*')
    await page.getByRole('region', { name: 'Bulk action' }).waitFor()
    await expectAccessible(page, ':slug/w/:ws/dead-letters')
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
    await makeDeadLetters(stage, 'slow.topic', 1001)
    await kill('scheduler')
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
