import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { inMs } from '../api-calls.ts'
import { expectAccessible } from './expect-accessible.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe('details of tasks in the dashboard', { timeout: 180_000 }, () => {
  const stage = useStage()

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

  it('has one tab stop for the calendar, whose times it takes', async () => {
    const page = await stage.ownerPage()
    await open(page, '/tasks/new', 'New task')
    await page.getByRole('textbox', { name: 'When', exact: true }).focus()
    const next = async () => {
      await page.keyboard.press('Tab')
      return page.evaluate(
        () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent,
      )
    }
    const stops = [await next(), await next(), await next()]
    expect(stops).toEqual(['Time zone of “When”', 'Open calendar for “When”', 'in 1 minute'])
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    expect(await page.getByRole('textbox', { name: 'When', exact: true }).inputValue()).toBe('in 10 minutes')
    await next()
    await next()
    await page.locator('input[name=url]:focus').waitFor()
    await page.getByLabel('Calendar for “When”', { exact: true }).fill('2099-12-31T18:30:05')
    expect(await page.getByRole('textbox', { name: 'When', exact: true }).inputValue()).toBe('2099-12-31 18:30:05')
  })

  it('copies a task, sends it now, and warns of a secret that does not exist', async () => {
    const page = await stage.ownerPage()
    const id = await create({
      name: 'Model',
      url: stage.receiver.url('/copied'),
      payload: { text: 'user\u202egpj.exe' },
    })
    await open(page, `/tasks/${id}`, 'Model')
    await page.getByRole('link', { name: 'Duplicate' }).click()
    await page.getByRole('heading', { name: 'New task', exact: true }).waitFor()
    const preview = page.getByRole('figure', { name: 'request' })
    await preview.getByText('user⟨U+202E⟩gpj.exe').waitFor()
    await page.getByRole('button', { name: 'Add header' }).click()
    await page.getByLabel('Header 1 name').fill('Authorization')
    await page.getByLabel('Header 1 value').fill('{{ secrets.STRIPE }}')
    await page.getByText('There is no secret named STRIPE.').waitFor()
    await expectAccessible(page, ':slug/w/:ws/tasks/new')
    await takeScreenshots(page, 'new-task-secret')
    await page.getByRole('button', { name: 'Remove header Authorization' }).click()
    await page.getByText('There is no secret named STRIPE.').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Send now' }).click()
    await page.getByRole('heading', { name: 'Model', exact: true }).waitFor()
    await page.getByRole('main').getByText('Completed').waitFor()
    expect(stage.receiver.requestsTo('/copied')).toHaveLength(1)
  })

  it('fits a long name, sorts by a column, and ignores filters that do not exist', async () => {
    const name = 'x'.repeat(200)
    const id = await create({ name })
    const page = await stage.ownerPage()
    await open(page, `/tasks/${id}`, name)
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    expect(await overflow()).toBeLessThanOrEqual(0)
    await takeScreenshots(page, 'task-long-name')
    await open(page, '/tasks?state=bogus&state=pending&from=yesterday', 'Tasks')
    await page.getByText('there is no such filter value: state=bogus, from=yesterday').waitFor()
    await page.getByRole('button', { name: 'State: Pending' }).waitFor()
    const first = page.getByRole('region', { name: 'Tasks' }).getByRole('link').first()
    await page.getByRole('button', { name: 'Name' }).click()
    expect(await page.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort')).toBe('ascending')
    await expect.poll(async () => (await first.textContent()) !== name).toBe(true)
    const names = await page.getByRole('region', { name: 'Tasks' }).getByRole('link').allTextContents()
    expect(names).toEqual(names.toSorted((a, b) => a.localeCompare(b)))
    await page.getByRole('button', { name: 'Name' }).click()
    await expect.poll(() => first.textContent()).toBe(name)
  })

  it('hides upcoming occurrences of cron jobs until asked', async () => {
    const cron = { name: 'Each minute', cron: '* * * * *', method: 'POST', url: stage.receiver.url('/minute') }
    await stage.belfry.call('POST', '/api/v1/scheduler/cronjobs', cron)
    const page = await stage.ownerPage()
    await open(page, '/tasks', 'Tasks')
    await page.getByText('of cron jobs not shown.').waitFor({ timeout: 30_000 })
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByRole('link', { name: 'Each minute' }).first().waitFor()
    await page.goto(`${await stage.home()}/events`)
    // The newest tasks hold no event, so the page reads on by itself.
    await page.getByRole('heading', { name: 'No events yet' }).waitFor()
  })

  it('loads more of a long list, and keeps its position on Back', async () => {
    const one = { url: stage.receiver.url('/hook'), method: 'POST', execute_at: inMs(7_200_000) }
    const tasks = Array.from({ length: 30 }, (_, index) => ({ ...one, name: `Many ${index}` }))
    await stage.belfry.call('POST', '/api/v1/scheduler/tasks/batch', { tasks })
    const page = await stage.ownerPage()
    await open(page, '/tasks?name=Many', 'Tasks')
    await page.getByRole('link', { name: 'Many 29' }).waitFor()
    await page.getByRole('button', { name: 'Load more' }).click()
    await page.getByRole('link', { name: 'Many 0', exact: true }).click()
    await page.getByRole('heading', { name: 'Many 0', exact: true }).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'Many 0', exact: true }).waitFor()
    const links = page.getByRole('region', { name: 'Tasks' }).getByRole('link')
    expect(await links.count()).toBe(30)
    await links.first().focus()
    await page.keyboard.press('ArrowDown')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(await links.nth(1).textContent())
  })
})
