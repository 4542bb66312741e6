import { waitFor } from '@belfry/test-support/wait-for'
import { describe, expect, it } from 'vitest'
import { inMs } from '../api-calls.ts'
import { expectAccessible } from './expect-accessible.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe('the state of delivery in the dashboard', { timeout: 240_000 }, () => {
  const stage = useStage()
  const root = '/api/v1/scheduler'

  it('shows a host whose circuit breaker is open, the tasks that wait for it, and closes the breaker', async () => {
    stage.receiver.answer('/broken', { status: 500 })
    stage.receiver.answer('/fine', { status: 200 })
    const execute_at = inMs(3_000)
    const tasks = Array.from({ length: 90 }, (_, i) => ({
      ...{ name: `Invoice ${i}`, url: stage.receiver.url('/broken'), method: 'POST', execute_at },
      retry: { max_retries: 0 },
    }))
    expect((await stage.belfry.call('POST', `${root}/tasks/batch`, { tasks })).status).toBe(200)
    const rare = { name: 'Leap day', cron: '0 0 29 2 *', method: 'POST', url: stage.receiver.url('/rare') }
    expect((await stage.belfry.call('POST', `${root}/cronjobs`, rare)).status).toBe(201)
    const host = new URL(stage.receiver.url('/')).host
    const hosts = async () => (await stage.belfry.call('GET', `${root}/hosts`)).body.data
    await waitFor(hosts, found => found[0]?.circuit.state === 'open', 60_000)

    const page = await stage.ownerPage()
    await page.goto(await stage.home())
    const notices = page.getByRole('status')
    await notices
      .getByText(new RegExp(`^Calls to ${host} are stopped after repeated failures, .* \\d+ tasks wait`))
      .waitFor()
    await expectAccessible(page, ':slug/w/:ws')
    await takeScreenshots(page, 'overview-paused')

    await page.goto(`${await stage.home()}/hosts`)
    const row = page.getByRole('region', { name: 'Hosts' }).getByRole('row', { name: host })
    await row.getByText('Circuit breaker open').waitFor()
    await row.getByText(/^Next probe/).waitFor()
    await row.getByRole('link', { name: '500' }).waitFor()
    await expectAccessible(page, ':slug/w/:ws/hosts')
    await takeScreenshots(page, 'hosts')

    await row.getByRole('link', { name: host }).click()
    await page.getByRole('heading', { name: host }).waitFor()
    await page.getByText('Circuit breaker open').waitFor()
    const health = page.getByRole('region', { name: 'Health' })
    await health.getByRole('row', { name: /^Last hour \d+ 100% / }).waitFor()
    await page.getByRole('region', { name: 'Failures' }).getByRole('link', { name: '500' }).waitFor()
    await page.getByRole('region', { name: 'Cron jobs' }).getByRole('link', { name: 'Leap day' }).waitFor()
    await expectAccessible(page, ':slug/w/:ws/hosts/:host')
    await takeScreenshots(page, 'host')
    await page.getByRole('link', { name: /^\d+ due$/ }).click()
    await page
      .getByRole('region', { name: 'Tasks' })
      .getByRole('link', { name: /^Invoice/ })
      .first()
      .waitFor()

    const waiting = (await stage.belfry.call('GET', `${root}/tasks?state=pending&source=task&limit=1`)).body.data[0]
    expect(waiting.blocked).toMatchObject({ reason: 'circuit_open', host })
    await page.goto(`${await stage.home()}/tasks/${waiting.id}`)
    await page.getByText(`Waiting for ${host}`).waitFor()
    await expectAccessible(page, ':slug/w/:ws/tasks/:task')
    await takeScreenshots(page, 'task-blocked')

    stage.receiver.answer('/broken', { status: 200 })
    await page.getByRole('button', { name: 'Close circuit breaker' }).click()
    await page.getByText(`Circuit breaker of ${host} closed`, { exact: true }).waitFor()
    await page.getByText(`Waiting for ${host}`).waitFor({ state: 'detached' })
    await waitFor(hosts, found => found[0]?.circuit.state === 'closed' && found[0]?.waiting === 0, 20_000)

    const runsOf = async () => (await stage.belfry.call('GET', `${root}/runs?task_id=${waiting.id}`)).body.data
    const [run] = await waitFor(runsOf, runs => runs.length > 0, 20_000)
    expect(run.waited_for).toBe('circuit_breaker')
    await page.goto(`${await stage.home()}/log/${run.id}`)
    await page.getByText(`Started late: the circuit breaker of ${host} was open.`).waitFor()
    await takeScreenshots(page, 'run-late')

    await page.goto(`${await stage.home()}/hosts`)
    await row.getByRole('button', { name: `Pause ${host}` }).click()
    await page.getByText(`${host} paused`, { exact: true }).waitFor()
    await row.getByText('Paused').waitFor()
    await notices.getByText(new RegExp(`^${host} was paused .* tasks wait`)).waitFor()
    await takeScreenshots(page, 'hosts-paused')
    await expectAccessible(page, ':slug/w/:ws/hosts')
    const event = { topic: 'paused', payload: {}, target_url: stage.receiver.url('/broken') }
    const [task] = (await stage.belfry.call('POST', '/api/events', event)).body.tasks
    await page.goto(`${await stage.home()}/tasks/${task.id}`)
    await page.getByText(`Waiting for ${host}: it was paused`).waitFor()
    await page.goto(`${await stage.home()}/hosts`)
    await row.getByRole('button', { name: `Resume ${host}` }).click()
    const stateOf = async () => (await stage.belfry.call('GET', `${root}/tasks/${task.id}`)).body.state
    await waitFor(stateOf, state => state === 'success', 20_000)
  })
})
