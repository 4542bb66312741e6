import { describe, expect, it } from 'vitest'
import { inMs } from '../api-calls.ts'
import { expectAccessible } from './expect-accessible.ts'
import { signUpViewer } from './sign-up-viewer.ts'
import { sizes, useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe('the overview in the dashboard', { timeout: 180_000 }, () => {
  const stage = useStage()

  const create = async (changes: Record<string, unknown>) => {
    const task = { url: stage.receiver.url('/hook'), method: 'POST', execute_at: inMs(3_600_000), ...changes }
    const { status } = await stage.belfry.call('POST', '/api/v1/scheduler/tasks', task)
    expect(status).toBe(201)
  }

  it('shows runs, failures and due tasks', async () => {
    stage.receiver.answer('/broken', { status: 503 })
    const retry = { max_retries: 0 }
    await create({ name: 'Broken', url: stage.receiver.url('/broken'), execute_at: inMs(5000), retry })
    await create({ name: 'Due soon', execute_at: inMs(600_000) })
    const longName = `${'Ü'.repeat(80)} ${'مهمة'.repeat(22)}`
    await create({ name: longName, execute_at: inMs(300_000) })
    for (const minutes of [12, 12, 25, 40, 41, 180, 400, 900]) {
      await create({ name: `Reminder ${minutes}`, execute_at: inMs(minutes * 60_000) })
    }
    const cron = { name: 'Every hour', cron: '0 * * * *', method: 'POST', url: stage.receiver.url('/hourly') }
    expect((await stage.belfry.call('POST', '/api/v1/scheduler/cronjobs', cron)).status).toBe(201)
    for (let n = 0; n < 5; n += 1) await create({ name: 'Quick', execute_at: inMs(1000) })
    const page = await stage.ownerPage()
    await page.goto(await stage.home())
    await page.getByRole('region', { name: 'Due next' }).getByText('Due soon').waitFor()
    await stage.receiver.waitFor(requests => requests.some(({ path }) => path === '/broken'), 30_000)
    // The page is open already, and reads again every five seconds.
    await page.getByRole('region', { name: 'Failures' }).getByRole('link', { name: '503' }).waitFor({ timeout: 15_000 })
    await page.getByText('this month').waitFor()
    await page.getByRole('link', { name: longName }).waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(1440)
    const fold = async (name: string) => (await page.getByRole('region', { name }).boundingBox())?.y
    for (const name of ['Throughput', 'Lag', 'Due next', 'Failures']) expect(await fold(name), name).toBeLessThan(700)
    await takeScreenshots(page, 'overview')
    await page.getByLabel('Range').selectOption('1h')
    await page.waitForURL('**?range=1h')
    await page.getByRole('button', { name: 'Next hour: show as table' }).click()
    expect(await page.getByRole('region', { name: 'Next hour' }).getByRole('row').count()).toBe(13)
    await expectAccessible(page, ':slug/w/:ws')
    const failures = page.getByRole('region', { name: 'Failures' })
    const ignore = failures.getByRole('button', { name: /^Ignore 503 of / })
    for (const path of ['', `/hosts/${encodeURIComponent(new URL(stage.receiver.url('/')).host)}`]) {
      for (const size of ['narrow', 'wide'] as const) {
        await page.setViewportSize(sizes[size])
        await page.goto((await stage.home()) + path)
        await ignore.waitFor()
        const [frame, button] = [await failures.boundingBox(), await ignore.boundingBox()]
        if (!frame || !button) throw new Error('They are on the page.')
        expect(button.x + button.width, size + path).toBeLessThanOrEqual(
          Math.min(frame.x + frame.width, sizes[size].width),
        )
      }
    }
    await page.goto(`${await stage.home()}?range=1h`)
    await failures.getByRole('button', { name: /^Ignore 503 of / }).click()
    await page.getByRole('button', { name: 'Show 1 ignored or resolved' }).click()
    await failures.getByText('Ignored').waitFor()
    await failures.getByRole('button', { name: /^Reopen 503 of / }).click()
    await failures.getByText('Ignored').waitFor({ state: 'detached' })
    await failures.getByRole('link', { name: 'Broken' }).click()
    await page.waitForURL('**/log/run_*')
    await page.goBack()
    await failures.getByRole('link', { name: '503' }).click()
    const runs = page.getByRole('region', { name: 'Runs' })
    await runs.getByRole('link', { name: 'Broken' }).waitFor()
    expect(await runs.getByRole('link', { name: 'Quick' }).count()).toBe(0)
    const filter = new URL(page.url()).searchParams
    expect([filter.get('host'), filter.get('error'), filter.get('response_status')]).toEqual([
      new URL(stage.receiver.url('/')).host,
      'http_status',
      '503',
    ])
    await page.goBack()
    // The bar of the hour, with the cron job's run.
    await page.getByRole('button', { name: 'Next 24 hours: show as table' }).click()
    await page.getByRole('region', { name: 'Next 24 hours' }).getByRole('link').nth(2).click()
    await page.getByRole('table', { name: 'Due in this hour' }).getByRole('link', { name: 'Every hour' }).waitFor()
    await expectAccessible(page, ':slug/w/:ws/upcoming')
    await takeScreenshots(page, 'upcoming')
    expect(await page.getByRole('region', { name: 'Due in each hour' }).getByRole('row').count()).toBe(8)
    await page.getByRole('link', { name: 'Hour after' }).click()
    await page.getByRole('table', { name: 'Due in this hour' }).getByRole('link', { name: 'Every hour' }).waitFor()
    await page.goto(await stage.home())
    // The bar of the current minutes.
    await page.locator('[title*="Failed 1"]').click()
    await runs.getByRole('link', { name: 'Broken' }).waitFor()
    expect(new URL(page.url()).searchParams.has('from')).toBe(true)
  })

  it('shows the usage to owners only', async () => {
    const page = await stage.newPage(await signUpViewer(stage))
    await page.goto(await stage.home())
    await page.getByText('Success rate').waitFor()
    await page.getByRole('region', { name: 'Due next' }).waitFor()
    expect(await page.getByText('this month').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'New task' }).getAttribute('aria-disabled')).toBe('true')
  })
})
