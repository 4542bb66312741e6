import { waitFor } from '@belfry/test-support/wait-for'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe('details of the activity log in the dashboard', { timeout: 180_000 }, () => {
  const stage = useStage()

  const publish = (topic: string, path: string, payload: unknown = { order: 42 }, more: object = {}) =>
    stage.belfry.call('POST', '/api/events', {
      ...more,
      topic,
      payload,
      target_url: stage.receiver.url(path),
      retry: { max_retries: 0 },
    })
  const rowOf = (page: Page, name: string) =>
    page.getByRole('region', { name: 'Runs' }).getByRole('row').filter({ hasText: name })

  it('changes the width of the open run with the keyboard and the pointer, and keeps it', async () => {
    await publish('orders.wide', '/wide')
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/log`)
    await rowOf(page, 'orders.wide').getByRole('link').click()
    const run = page.getByRole('region', { name: 'Run', exact: true })
    const widthOf = () => run.evaluate(panel => Math.round(panel.getBoundingClientRect().width))
    const edge = page.getByRole('separator', { name: 'Width of the run' })
    const before = await widthOf()
    await edge.focus()
    for (let step = 0; step < 10; step += 1) await page.keyboard.press('ArrowLeft')
    expect(await edge.getAttribute('aria-valuenow')).toBe('70')
    const wide = await widthOf()
    expect(wide).toBeGreaterThan(before)
    await page.reload()
    await run.getByRole('heading', { name: 'orders.wide' }).waitFor()
    expect(await widthOf()).toBe(wide)
    const box = await edge.boundingBox()
    if (!box) throw new Error('The edge is not visible.')
    await page.mouse.move(box.x + box.width / 2, 400)
    await page.mouse.down()
    await page.mouse.move(box.x + 300, 400, { steps: 4 })
    await page.mouse.up()
    expect(await widthOf()).toBeLessThan(wide - 200)
    await expectAccessible(page, ':slug/w/:ws/log/:run')
    await edge.dblclick()
    expect(await widthOf()).toBe(before)
  })

  it('covers all workspaces of the organization, and opens their runs', async () => {
    const { caller, call } = stage.belfry
    const as = { token: caller.token ?? '' }
    const workspaces = `/api/v1/organizations/${caller.organizationId}/workspaces`
    const { body: other } = await call('POST', workspaces, { name: 'Staging' }, as)
    const { body: key } = await call('POST', `/api/v1/workspaces/${other.id}/api-keys`, { name: 'Test' }, as)
    const event = { topic: 'staging.built', payload: {}, target_url: stage.receiver.url('/staging') }
    await call('POST', '/api/events', event, { apiKey: key.key })
    await publish('orders.late', '/late')
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/log`)
    await rowOf(page, 'orders.late').waitFor()
    expect(await rowOf(page, 'staging.built').count()).toBe(0)
    await page.getByRole('combobox', { name: 'Workspace' }).selectOption('all')
    await rowOf(page, 'staging.built').getByText('Staging', { exact: true }).waitFor()
    await rowOf(page, 'orders.late').getByText('Main', { exact: true }).waitFor()
    await expectAccessible(page, ':slug/w/:ws/log')
    await takeScreenshots(page, 'log-all')
    const savedFilters = page.getByRole('button', { name: 'Saved filters' })
    await savedFilters.click()
    await page.getByRole('menuitem', { name: 'Save these filters' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await rowOf(page, 'staging.built').getByRole('link').click()
    await page.waitForURL(`**/w/${other.id}/log/run_*?workspace=all`)
    await page.getByRole('region', { name: 'Run', exact: true }).getByText('HTTP status 200').waitFor()
    await rowOf(page, 'orders.late').waitFor()
    // Each workspace has its saved filters. The list is narrow beside a run.
    await page.getByRole('button', { name: /^Filters/ }).click()
    await savedFilters.click()
    await page.getByRole('menuitem', { name: 'Save these filters' }).waitFor()
  })

  it('excludes values, in the URL and in saved filters', async () => {
    stage.receiver.answer('/broken', { status: 500, body: 'no' })
    await publish('orders.broken', '/broken')
    await publish('orders.next', '/next')
    await publish('orders.mine', '/mine')
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/log`)
    await rowOf(page, 'orders.mine').waitFor()
    await page.getByRole('button', { name: 'Response: Any status code' }).click()
    await page.getByRole('menuitemcheckbox', { name: '5xx' }).click()
    await rowOf(page, 'orders.mine').waitFor({ state: 'detached' })
    await page.getByRole('menuitemcheckbox', { name: 'Exclude' }).click()
    await rowOf(page, 'orders.mine').waitFor()
    await rowOf(page, 'orders.broken').waitFor({ state: 'detached' })
    await page.getByRole('menuitemcheckbox', { name: '404' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Response: not 404, 5xx' }).waitFor()
    expect(new URL(page.url()).searchParams.getAll('not_response_status')).toEqual(['5xx', '404'])

    await page.keyboard.press('/')
    await page.keyboard.type('orders.mine')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Exclude Topic orders.mine' }).click()
    await rowOf(page, 'orders.mine').waitFor({ state: 'detached' })
    await rowOf(page, 'orders.next').waitFor()
    // A new run that is excluded does not appear either.
    await publish('orders.mine', '/mine')
    await publish('orders.shown', '/shown')
    await rowOf(page, 'orders.shown').waitFor()
    expect(await rowOf(page, 'orders.mine').count()).toBe(0)
    await page.reload()
    await rowOf(page, 'orders.shown').waitFor()
    await expectAccessible(page, ':slug/w/:ws/log')
    await takeScreenshots(page, 'log-excluding')

    await page.getByRole('button', { name: 'Saved filters' }).click()
    await page.getByRole('menuitem', { name: 'Save these filters' }).click()
    const dialog = page.getByRole('dialog', { name: 'Save filters' })
    await dialog.getByLabel('Name').fill('Not paid')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Remove filter: Topic not orders.mine' }).click()
    await rowOf(page, 'orders.mine').first().waitFor()
    await page.getByRole('button', { name: 'Saved filters' }).click()
    await page.getByRole('menuitem', { name: 'Not paid' }).click()
    await page.getByRole('button', { name: 'Show only Topic orders.mine' }).click()
    await rowOf(page, 'orders.mine').first().waitFor()
    expect(new URL(page.url()).searchParams.getAll('topic')).toEqual(['orders.mine'])
    await page.getByRole('button', { name: 'Saved filters' }).click()
    await page.getByRole('menuitem', { name: 'Not paid' }).click()
    await page.getByRole('button', { name: 'Saved filters' }).click()
    await page.getByRole('menuitem', { name: 'Remove “Not paid”' }).click()
  })

  it('shows how long the steps of a call took, and in which step it stopped', async () => {
    const closing = { headers: { connection: 'close' } }
    stage.receiver.answer('/steps', [closing, closing, {}, {}])
    stage.receiver.answer('/hangs', { does: 'hang' })
    const page = await stage.ownerPage()
    const steps = page.getByLabel('Steps of the call')
    const openRun = async (topic: string) => {
      await page.goto(`${await stage.home()}/log?topic=${topic}`)
      await rowOf(page, topic).getByRole('link').click()
    }
    // The first ones close the connections that earlier tests have left. The next one opens another, which the last one reuses.
    for (const topic of ['steps.closing', 'steps.closed', 'steps.opening', 'steps.reusing']) {
      await publish(topic, '/steps')
      await waitFor(
        async () => (await stage.belfry.call('GET', `/api/v1/scheduler/runs?topic=${topic}`)).body.data,
        runs => runs.length === 1,
      )
    }
    await openRun('steps.opening')
    expect(await steps.textContent()).toMatch(/^DNS\d+ msConnect\d+ msFirst byte\d+ msReading\d+ ms$/)
    await expectAccessible(page, ':slug/w/:ws/log/:run')
    await openRun('steps.reusing')
    expect(await steps.textContent()).toMatch(/^ConnectionreusedFirst byte\d+ msReading\d+ ms$/)
    await publish('steps.hang', '/hangs', {}, { timeout_ms: 1_500 })
    await openRun('steps.hang')
    expect(await steps.textContent()).toMatch(/First byte[\d.]+ s, not completed$/)
    await expectAccessible(page, ':slug/w/:ws/log/:run')
    await takeScreenshots(page, 'run-steps')
  })
})
