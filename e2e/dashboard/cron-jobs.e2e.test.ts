import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { signUpViewer } from './sign-up-viewer.ts'
import { reloadAsAnotherTab, useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

/** Two days before the clocks go forward in Berlin, on the last Sunday of March of the next year. */
function beforeClocksGoForward(): string {
  const year = new Date().getUTCFullYear() + 1
  const sunday = 31 - new Date(Date.UTC(year, 2, 31)).getUTCDay()
  return `${year}-03-${sunday - 2} 00:00`
}

describe('cron jobs in the dashboard', { timeout: 180_000 }, () => {
  const stage = useStage()
  beforeEach(() => stage.enterNewWorkspace())

  const open = async (page: Page, path: string, heading: string) => {
    await page.goto((await stage.home()) + path)
    await page.getByRole('heading', { name: heading, exact: true, level: 1 }).waitFor()
  }

  it('creates one with a preview, then pauses, resumes, triggers, edits and deletes it', async () => {
    // The browser logs the rejected expression.
    const page = await stage.ownerPage({ expected: /status of 400/ })
    await open(page, '/cron-jobs', 'Cron jobs')
    await page.getByRole('heading', { name: 'No cron jobs yet', exact: true }).waitFor()
    await takeScreenshots(page, 'cron-jobs-empty')
    await page.getByRole('link', { name: 'New cron job' }).first().click()

    await page.getByLabel('Cron expression').fill('0 25 * * *')
    await page.getByRole('alert').filter({ hasText: /hour/i }).waitFor()
    await page.getByLabel('Cron expression').fill('@daily')
    await page.getByRole('alert').filter({ hasText: 'names such as @daily are not supported' }).waitFor()
    for (const [preset, expression] of [
      ['Last day of the month', '0 9 L * *'],
      ['First Monday', '0 9 * * MON#1'],
      ['Last Friday', '0 9 * * FRIL'],
    ] as const) {
      await page.getByRole('button', { name: preset }).click()
      expect(await page.getByLabel('Cron expression').inputValue()).toBe(expression)
    }
    await page.getByLabel('Cron expression').fill('30 2 * * *')
    await page.getByRole('combobox', { name: 'Time zone', exact: true }).selectOption('Europe/Berlin')
    await page.getByText('At 02:30').first().waitFor()
    await page.getByText('Overlap, start, end, deadline and labels').click()
    await page.getByRole('textbox', { name: 'Starts (optional)' }).fill(beforeClocksGoForward())
    await page.getByText('Clocks go forward').waitFor()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Nightly')
    await page.getByLabel('Target URL').fill(stage.receiver.url('/nightly'))
    await expectAccessible(page, ':slug/w/:ws/cron-jobs/new')
    await takeScreenshots(page, 'new-cron-job')
    await page.getByRole('button', { name: 'Create cron job' }).click()

    await page.getByRole('heading', { name: 'Nightly', exact: true }).waitFor()
    await page.getByRole('main').getByText('Active', { exact: true }).waitFor()
    const otherTab = await page.context().newPage()
    await otherTab.goto(`${await stage.home()}/cron-jobs`)
    await otherTab.getByRole('region', { name: 'Cron jobs' }).getByText('Active').waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Nothing is sent until you resume it').waitFor()
    await otherTab.getByRole('region', { name: 'Cron jobs' }).getByText('Paused').waitFor({ timeout: 5000 })
    await otherTab.close()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('table', { name: 'Next runs' }).waitFor()
    await page.getByRole('button', { name: 'Trigger now' }).click()
    await page.getByText('Created by a cron job').waitFor()
    await page.getByRole('main').getByText('Completed').waitFor()
    expect(stage.receiver.requestsTo('/nightly')).toHaveLength(1)

    await page.getByRole('link', { name: 'View cron job' }).click()
    await page.getByRole('region', { name: 'Occurrences' }).getByText('Success').waitFor()
    await expectAccessible(page, ':slug/w/:ws/cron-jobs/:cronJob')
    await takeScreenshots(page, 'cron-job')
    await page.getByLabel('Times', { exact: true }).selectOption('Time zone of the cron job')
    const inBerlin = /\b(CES?T|GMT\+[12])$/
    await page.getByRole('region', { name: 'Occurrences' }).getByText(inBerlin).first().waitFor()
    await page.getByRole('tab', { name: 'Runs' }).click()
    await page.getByRole('region', { name: 'Runs' }).getByText('Success').waitFor()
    await page.getByRole('combobox', { name: 'Lag' }).selectOption('3600000')
    await page.getByText('No run has started this late.').waitFor()
    await page.getByRole('combobox', { name: 'Lag' }).selectOption('')
    await page.getByRole('region', { name: 'Runs' }).getByText(inBerlin).waitFor()
    await page.keyboard.press('ArrowRight')
    await page.getByRole('figure', { name: 'request' }).waitFor()
    await page.getByLabel('Times', { exact: true }).selectOption('Relative times')
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Run for a past time' }).click()
    await takeScreenshots(page, 'backfill')
    await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click()
    // It starts in the future.
    await page.getByText('0 tasks created, 0 skipped').first().waitFor()
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByLabel('Cron expression').fill('45 2 * * *')
    await page.getByText('At 02:45').first().waitFor()
    await expectAccessible(page, ':slug/w/:ws/cron-jobs/:cronJob/edit')
    await takeScreenshots(page, 'edit-cron-job')
    const [id] = /cron_\w+/.exec(page.url()) ?? []
    await stage.belfry.call('PATCH', `/api/v1/scheduler/cronjobs/${id}`, { name: 'Each night' })
    await reloadAsAnotherTab(page)
    await page.getByRole('link', { name: 'Each night' }).waitFor()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('heading', { name: 'Each night', exact: true }).waitFor()
    await page.getByText('At 02:45').first().waitFor()

    await page.getByRole('link', { name: 'Cron jobs', exact: true }).first().click()
    await page.getByRole('img', { name: '1 recent run, 0 failed' }).waitFor()
    await expectAccessible(page, ':slug/w/:ws/cron-jobs')
    await takeScreenshots(page, 'cron-jobs')
    await page.getByRole('link', { name: 'Coming week' }).click()
    await page.getByRole('heading', { name: 'Coming week', exact: true }).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'Each night' }).click()
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete cron job' }).click()
    await page.getByRole('heading', { name: 'No cron jobs yet', exact: true }).waitFor()
  })

  it('keeps the notice of a paused one dismissed until another is paused', async () => {
    const pause = async (name: string) => {
      const body = { name, cron: '0 9 * * *', url: stage.receiver.url('/paused'), method: 'POST' }
      const { body: job } = await stage.belfry.call('POST', '/api/v1/scheduler/cronjobs', body)
      expect((await stage.belfry.call('POST', `/api/v1/scheduler/cronjobs/${job.id}/pause`)).status).toBe(200)
    }
    await pause('First')
    const page = await stage.ownerPage()
    await open(page, '/cron-jobs', 'Cron jobs')
    const notice = page.getByText('Cron job First was paused')
    await notice.waitFor()
    await takeScreenshots(page, 'cron-job-notice')
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await notice.waitFor({ state: 'detached' })
    const status = page.waitForResponse('**/api/v1/scheduler/status')
    await page.reload()
    await status
    await page.getByRole('region', { name: 'Cron jobs' }).getByRole('link', { name: 'First' }).waitFor()
    expect(await notice.count()).toBe(0)
    await pause('Second')
    await page.getByText('2 cron jobs are paused').waitFor()
  })

  it('shows a viewer why the actions are disabled', async () => {
    const body = { name: 'Theirs', cron: '0 9 * * *', url: stage.receiver.url('/theirs'), method: 'POST' }
    const { body: job } = await stage.belfry.call('POST', '/api/v1/scheduler/cronjobs', body)
    const page = await stage.newPage(await signUpViewer(stage))
    await open(page, '/cron-jobs', 'Cron jobs')
    expect(await page.getByRole('button', { name: 'New cron job' }).getAttribute('aria-disabled')).toBe('true')
    await open(page, `/cron-jobs/${job.id}`, 'Theirs')
    for (const name of ['Trigger now', 'Pause', 'Edit']) {
      expect(await page.getByRole('button', { name }).getAttribute('aria-disabled')).toBe('true')
    }
    await page.getByRole('button', { name: 'More' }).click()
    const refused = page.getByRole('menuitem', { name: 'Delete' })
    expect(await refused.getAttribute('aria-disabled')).toBe('true')
    expect(await refused.textContent()).toContain('You need the Editor role')
    await expectAccessible(page, ':slug/w/:ws/cron-jobs/:cronJob')
    await page.goto(`${await stage.home()}/cron-jobs/new`)
    await page.getByRole('heading', { name: 'You do not have access to this page', exact: true }).waitFor()
  })
})
