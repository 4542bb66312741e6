import { waitFor } from '@belfry/test-support/wait-for'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { useStage } from './stage.ts'

const count = 2000

describe('a long activity log in the dashboard', { timeout: 180_000 }, () => {
  const stage = useStage()

  // One run per second; its number is its age.
  const fill = async () => {
    await stage.belfry.call('POST', '/api/events', { topic: 'a', payload: {}, target_url: stage.receiver.url('/') })
    await waitFor(
      async () => (await stage.belfry.call('GET', '/api/v1/scheduler/runs')).body.data.length,
      found => found > 0,
    )
    await stage.belfry.execute(`
      INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at, response_status)
      SELECT (substr(uuid_v7_floor(at)::text, 1, 13) || '-7000-a000-' || lpad(to_hex(n), 12, '0'))::uuid, workspace_id,
             task_id, n, 'event', CASE WHEN n % 10 = 0 THEN 'failed' ELSE 'success' END::run_status, at, at, at,
             CASE WHEN n % 10 = 0 THEN 500 ELSE 200 END
      FROM (SELECT workspace_id, task_id FROM runs JOIN task_requests USING (task_id)
            WHERE url = '${stage.receiver.url('/')}' LIMIT 1) AS model,
           LATERAL (SELECT n, now() - n * interval '1 second' AS at FROM generate_series(2, ${count}) AS n) AS aged`)
  }
  const rows = (page: Page) => page.getByRole('region', { name: 'Runs' }).getByRole('row')

  it('scrolls to its end and back with few rows mounted and few pages kept', async () => {
    await fill()
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/log`)
    const list = page.getByRole('region', { name: 'Runs' })
    await rows(page).nth(2).waitFor()
    const asked: string[] = []
    page.on('request', request => request.url().includes('/scheduler/runs?') && asked.push(request.url()))
    await waitFor(
      async () => {
        await list.evaluate(element => element.scrollTo({ top: element.scrollHeight }))
        return page.getByText('end of log').count()
      },
      found => found === 1,
      60_000,
    )
    expect(await page.getByText(`${count.toLocaleString('en')} runs · end of log`).count()).toBe(1)
    // The last page may have arrived after the last scroll.
    await list.evaluate(element => element.scrollTo({ top: element.scrollHeight }))
    await page.getByRole('row', { name: `run ${count}` }).waitFor()
    expect(await rows(page).count()).toBeLessThan(100)

    const before = asked.length
    await list.evaluate(element => element.scrollTo({ top: element.scrollHeight / 2 }))
    await page.getByRole('row', { name: 'run 1010' }).waitFor()
    expect(asked.length).toBeGreaterThan(before)
    await list.evaluate(element => element.scrollTo({ top: 0 }))
    await page.getByRole('row', { name: 'run 20 ' }).waitFor()
  })

  it('reuses the elements of rows while it scrolls, and puts them in order at rest', async () => {
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/log`)
    const list = page.getByRole('region', { name: 'Runs' })
    await rows(page).nth(2).waitFor()
    await waitFor(
      async () => {
        await list.evaluate(element => element.scrollTo({ top: element.scrollHeight }))
        return page.getByText('end of log').count()
      },
      found => found === 1,
      60_000,
    )
    await list.evaluate(element => element.scrollTo({ top: element.scrollHeight }))
    await page.getByRole('row', { name: `run ${count}` }).waitFor()
    const { added, passed } = await list.evaluate(async element => {
      let added = 0
      const observer = new MutationObserver(records => {
        for (const { addedNodes } of records) added += [...addedNodes].filter(node => node.nodeName === 'TR').length
      })
      observer.observe(element, { childList: true, subtree: true })
      // Not as far as pages are dropped and read again.
      const start = element.scrollTop
      for (let step = 0; step < 25; step += 1) {
        element.scrollBy({ top: -900 })
        await new Promise(resolve => requestAnimationFrame(resolve))
      }
      observer.disconnect()
      return { added, passed: (start - element.scrollTop) / 42 }
    })
    expect(passed).toBeGreaterThan(500)
    expect(added).toBeLessThan(passed / 4)
    const indexes = () =>
      list.evaluate(element =>
        [...element.querySelectorAll('tbody tr')].map(row => Number(row.getAttribute('aria-rowindex'))),
      )
    await expect.poll(async () => isSorted(await indexes()), { timeout: 10_000 }).toBe(true)
  })

  it('moves with the arrow keys, and keeps its position while a run is open', async () => {
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/log?status=failed`)
    const list = page.getByRole('region', { name: 'Runs' })
    await rows(page).nth(2).waitFor()
    await rows(page).nth(1).getByRole('link').focus()
    for (let step = 0; step < 30; step++) await page.keyboard.press('ArrowDown')
    // The list follows the last keys a moment later.
    const scrollTop = () => list.evaluate(element => element.scrollTop)
    let top = -1
    await expect
      .poll(
        async () => {
          const before = top
          top = await scrollTop()
          return top - before
        },
        { interval: 200 },
      )
      .toBe(0)
    expect(top).toBeGreaterThan(200)
    await page.keyboard.press('Enter')
    const run = page.getByRole('region', { name: 'Run', exact: true })
    await run.getByRole('tab', { name: 'Request' }).waitFor()
    expect(await list.evaluate(element => element.scrollTop)).toBe(top)
    await page.goBack()
    await run.waitFor({ state: 'detached' })
    expect(await list.evaluate(element => element.scrollTop)).toBe(top)
  })
})

function isSorted(numbers: readonly number[]): boolean {
  return numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? 0))
}
