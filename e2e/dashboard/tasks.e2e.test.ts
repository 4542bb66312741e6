import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { inMs } from '../api-calls.ts'
import { expectAccessible } from './expect-accessible.ts'
import { signUpViewer } from './sign-up-viewer.ts'
import { reloadAsAnotherTab, useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe('tasks in the dashboard', { timeout: 180_000 }, () => {
  const stage = useStage()
  beforeEach(() => stage.enterNewWorkspace())

  const open = async (page: Page, path: string, heading: string) => {
    await page.goto((await stage.home()) + path)
    await page.getByRole('heading', { name: heading, exact: true, level: 1 }).waitFor()
  }
  const create = async (changes: Record<string, unknown>): Promise<string> => {
    const task = { url: stage.receiver.url('/hook'), method: 'POST', execute_at: inMs(3_600_000), ...changes }
    const { status, body } = await stage.belfry.call('POST', '/api/v1/scheduler/tasks', task)
    expect(status).toBe(201)
    return body.id
  }

  it('creates one in a form with live validation, and shows its delivery', async () => {
    const page = await stage.ownerPage()
    await open(page, '/tasks', 'Tasks')
    await page.getByRole('heading', { name: 'No tasks yet', exact: true }).waitFor()
    await expectAccessible(page, ':slug/w/:ws/tasks')
    await takeScreenshots(page, 'tasks-empty')
    await page.getByRole('link', { name: 'New task' }).first().click()
    await page.getByRole('heading', { name: 'New task', exact: true }).waitFor()
    await page.locator('input[name=name]:focus').waitFor()

    await page.getByRole('textbox', { name: 'When', exact: true }).fill('in 90 minuts')
    await page.getByText('Use a time such as “in 10 minutes”').waitFor()
    await page.getByLabel('Target URL').fill('example.com/hook')
    await page.getByLabel('Payload').fill('{"hello": ')
    await page.getByText('The URL must be absolute').waitFor()
    await page.getByRole('button', { name: 'Create task' }).click()
    await page.getByText('Enter a name.').waitFor()
    await page.getByText('Incomplete JSON').waitFor()
    await expectAccessible(page, ':slug/w/:ws/tasks/new')

    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('First reminder')
    await page.getByText('Enter a name.').waitFor({ state: 'detached' })
    await page.getByLabel('Target URL').fill(stage.receiver.url('/reminder'))
    await page.getByLabel('Payload').fill('{"id":12345678901234567890}')
    await page.getByRole('button', { name: 'Format' }).click()
    const formatted = '{\n  "id": 12345678901234567890\n}'
    expect(await page.getByLabel('Payload').inputValue()).toBe(formatted)
    await page.getByRole('button', { name: 'Add header' }).click()
    await page.getByLabel('Header 1 name').fill('X-Tenant')
    await page.getByLabel('Header 1 value').fill('acme')
    await page.getByRole('button', { name: 'tomorrow 09:00' }).click()
    await page.getByRole('textbox', { name: 'When', exact: true }).fill('in 3 seconds')
    const preview = page.getByRole('figure', { name: 'request' })
    expect(await preview.textContent()).toContain('X-Tenant: acme')
    await takeScreenshots(page, 'new-task')
    await page.getByRole('button', { name: 'Create task' }).click()

    await page.getByRole('heading', { name: 'First reminder', exact: true }).waitFor()
    await page.getByRole('main').getByText('Completed').waitFor()
    await page.getByRole('region', { name: 'Runs' }).getByText('#1').waitFor()
    const [request] = stage.receiver.requestsTo('/reminder')
    expect(request?.body.toString()).toBe(formatted)
    await expectAccessible(page, ':slug/w/:ws/tasks/:task')
    await takeScreenshots(page, 'task')
    await page.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('Created by a replay').waitFor()
  })

  it('edits a pending one, then cancels it', async () => {
    const page = await stage.ownerPage()
    const id = await create({ name: 'Later', payload: { n: 1 } })
    await stage.belfry.call('PATCH', `/api/v1/scheduler/tasks/${id}`, '{"payload":{"id":12345678901234567890}}')
    await open(page, `/tasks/${id}`, 'Later')
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Much later')
    await page.getByRole('textbox', { name: 'When', exact: true }).fill('2098-12-31 18:00')
    await page.getByLabel('Time zone of “When”').selectOption('Asia/Tokyo')
    await page.getByText('31 Dec 2098, 18:00:00').first().waitFor()
    await expectAccessible(page, ':slug/w/:ws/tasks/:task/edit')
    await takeScreenshots(page, 'edit-task')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('heading', { name: 'Much later', exact: true }).waitFor()
    const { body, text } = await stage.belfry.call('GET', `/api/v1/scheduler/tasks/${id}`)
    expect(body).toMatchObject({ name: 'Much later', execute_at: '2098-12-31T09:00:00.000Z' })
    expect(text).toContain('"payload":{"id":12345678901234567890}')
    await page.getByRole('link', { name: 'Edit' }).click()
    expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('Much later')
    await stage.belfry.call('PATCH', `/api/v1/scheduler/tasks/${id}`, { name: 'Renamed' })
    await reloadAsAnotherTab(page)
    await page.getByRole('link', { name: 'Renamed' }).waitFor()
    // Longer than a payload that is validated with each key.
    const payload = `{"id":12345678901234567891,"more":"${'x'.repeat(20_000)}"}`
    await page.getByLabel('Payload').fill(payload)
    await page.keyboard.press('Control+Enter')
    await page.getByRole('heading', { name: 'Renamed', exact: true }).waitFor()
    const edited = await stage.belfry.call('GET', `/api/v1/scheduler/tasks/${id}`)
    expect(edited.text).toContain(`"payload":${payload}`)

    await page.getByRole('button', { name: 'Cancel task' }).click()
    await page.getByRole('button', { name: 'Yes, cancel task' }).click()
    await page.getByText('Cancelled by a user').waitFor()
  })

  it('filters in the URL, and cancels and replays in bulk', async () => {
    for (const name of ['Bulk 1', 'Bulk 2', 'Other']) await create({ name })
    const page = await stage.ownerPage()
    await open(page, '/tasks', 'Tasks')
    const search = page.getByRole('searchbox')
    await search.waitFor()
    await page.keyboard.press('/')
    // Slow enough that the URL changes between letters.
    for (const letter of 'Bulk') {
      await page.waitForTimeout(251)
      await page.keyboard.type(letter)
    }
    await page.waitForURL('**/tasks?name=Bulk')
    expect(await search.inputValue()).toBe('Bulk')
    await page.getByRole('link', { name: 'Other' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Bulk 1' }).waitFor()
    await page.getByLabel('Select all').click()
    await page.getByText('2 tasks selected').waitFor()
    await expectAccessible(page, ':slug/w/:ws/tasks')
    await takeScreenshots(page, 'tasks')
    await page.getByRole('button', { name: 'Cancel 2' }).click()
    await page.getByRole('button', { name: 'Yes, cancel' }).click()
    await page.getByText('2 tasks cancelled.').first().waitFor()
    await page.getByRole('button', { name: 'State: All states' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Cancelled' }).click()
    await page.keyboard.press('Escape')
    await page.getByLabel('Select Bulk 1').click()
    await page.getByRole('button', { name: 'Replay 1' }).click()
    await page.getByRole('button', { name: 'Yes, replay' }).click()
    await page.getByText('1 task replayed.').first().waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'State: All states' }).waitFor()
    expect(new URL(page.url()).search).toBe('?name=Bulk')
  })

  it('cancels all tasks that match the filter, after it has shown how many, and links labels', async () => {
    const page = await stage.ownerPage()
    const [id] = await Promise.all([1, 2].map(n => create({ name: `Labelled ${n}`, labels: ['bulk:1'], key: `k${n}` })))
    await open(page, `/tasks/${id}`, 'Labelled 1')
    await page.getByText('k1', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'bulk:1' }).click()
    await page.getByRole('heading', { name: 'Tasks', exact: true, level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Cancel matching pending tasks' }).click()
    await page.getByRole('heading', { name: 'Cancel 2 pending tasks?' }).waitFor()
    await expectAccessible(page, ':slug/w/:ws/tasks')
    await takeScreenshots(page, 'tasks-cancel-matching')
    await page.getByRole('button', { name: 'Cancel tasks', exact: true }).click()
    await page.getByText('2 tasks cancelled', { exact: true }).waitFor()
  })

  it('counts all tasks with a reason that a replay sends again: cancelled and dead ones', async () => {
    await create({ name: 'Later', queue: 'closed' })
    expect((await stage.belfry.call('POST', '/api/v1/scheduler/queues/closed/pause')).status).toBe(200)
    await create({ name: 'Too old', queue: 'closed', execute_at: inMs(500), expires_at: inMs(1_500) })
    const page = await stage.ownerPage({ expected: /status of 500/ })
    await open(page, '/tasks?state_reason=expired', 'Tasks')
    await page.getByRole('link', { name: 'Too old' }).waitFor({ timeout: 60_000 })
    await page.getByRole('button', { name: 'Replay matching cancelled or dead tasks' }).click()
    await page.getByRole('heading', { name: 'Replay 1 cancelled or dead task?' }).waitFor()
    const progress = '**/bulk-operations/op_*'
    await page.route(progress, route => route.fulfill({ status: 500, json: { detail: 'It is broken.' } }))
    await page.getByRole('button', { name: 'Replay task', exact: true }).click()
    await page.getByText('It is broken.').waitFor()
    await page.evaluate(() => window.dispatchEvent(new Event('online')))
    await page.unroute(progress)
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await page.waitForURL(/tasks\?operation=op_\w+$/)
    await page.getByText('Replayed 1 dead letter.').waitFor()
    await page.getByRole('region', { name: 'Bulk action' }).getByRole('button', { name: 'Close' }).click()
    await page.waitForURL(/tasks$/)
  })

  it('shows a viewer why the actions are disabled', async () => {
    const id = await create({ name: 'Not yours' })
    const page = await stage.newPage(await signUpViewer(stage))
    await open(page, '/tasks', 'Tasks')
    await page.getByRole('link', { name: 'Not yours' }).waitFor()
    const refused = page.getByRole('button', { name: 'New task' })
    expect(await refused.getAttribute('aria-disabled')).toBe('true')
    await refused.focus()
    await page.getByText('You need the Editor role').first().waitFor()
    expect(await page.getByRole('checkbox').count()).toBe(0)
    await open(page, `/tasks/${id}`, 'Not yours')
    for (const name of ['Edit', 'Cancel task']) {
      expect(await page.getByRole('button', { name }).getAttribute('aria-disabled')).toBe('true')
    }
    await page.goto(`${await stage.home()}/tasks/new`)
    await page.getByRole('heading', { name: 'You do not have access to this page', exact: true }).waitFor()
    await expectAccessible(page, ':slug/w/:ws/tasks/new')
  })

  it('ends a search for good on a slow device, too', async () => {
    const page = await stage.ownerPage()
    for (const name of ['alpha', 'beta']) await create({ name })
    await open(page, '/tasks?name=al', 'Tasks')
    await page.getByRole('link', { name: 'alpha' }).waitFor()
    await page.evaluate(() => {
      const start = setTimeout
      // Blocks the page after the start of each timer until that should end.
      const stalled = (handler: () => void, ms = 0) => {
        const timer = start(handler, ms)
        for (const until = performance.now() + Math.min(ms, 300) + 20; performance.now() < until; );
        return timer
      }
      Object.assign(window, { setTimeout: stalled })
    })
    const entries = () => page.evaluate(() => history.length)
    const before = await entries()
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await page.getByRole('link', { name: 'beta' }).waitFor()
    await page.waitForTimeout(1_000)
    expect([await entries(), new URL(page.url()).search]).toEqual([before + 1, ''])
  })
})
