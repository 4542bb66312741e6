import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe('saved filters and hostile responses in the dashboard', { timeout: 180_000 }, () => {
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

  it('saves filters in the browser, and removes them', async () => {
    const page = await stage.ownerPage()
    const log = `${await stage.home()}/log`
    await page.goto(`${log}?status=failed&response_status=5xx`)
    await page.getByRole('button', { name: 'Saved filters' }).click()
    await page.getByRole('menuitem', { name: 'Save these filters' }).click()
    const dialog = page.getByRole('dialog', { name: 'Save filters' })
    expect(await dialog.getByLabel('Name').inputValue()).toBe('status: failed, response status: 5xx')
    await expectAccessible(page, ':slug/w/:ws/log')
    await dialog.getByLabel('Name').fill('Broken receivers')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.goto(log)
    await page.getByRole('button', { name: 'Saved filters' }).click()
    await page.getByRole('menuitem', { name: 'Broken receivers' }).click()
    await page.waitForURL('**?status=failed&response_status=5xx')
    await page.getByRole('button', { name: 'Saved filters' }).click()
    await page.getByRole('menuitem', { name: 'Remove “Broken receivers”' }).click()
    await page.reload()
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByRole('button', { name: 'Saved filters' }).waitFor({ state: 'detached' })
  })

  it('shows a hostile response as text', async () => {
    const script = '<script>document.title = "owned"</script><img src=x onerror="document.title = 1">'
    const text = `${script}\u001b[31mred\u001b[0m user\u202egpj.exe\u0000 \u05e9\u05dc\u05d5\u05dd`
    const headers = { 'content-type': 'text/html', 'x-hostile': '"><script>document.title = 2</script>' }
    stage.receiver.answer('/hostile', { headers, body: text })
    stage.receiver.answer('/binary', { headers, body: Buffer.from([0xff, 0xfe, 0x3c, 0x73, 0x63, 0x72, 0x00, 0x80]) })
    stage.receiver.answer('/large', { headers, body: `${script}${'x'.repeat(2 ** 20)}` })
    for (const path of ['/hostile', '/binary', '/large']) await publish(`hostile${path.replace('/', '.')}`, path)
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/log`)
    const run = page.getByRole('region', { name: 'Run', exact: true })
    const body = run.getByRole('region', { name: 'response body' })

    await rowOf(page, 'hostile.hostile').getByRole('link').click()
    await body.getByText('<script>').waitFor()
    expect(await body.textContent()).toBe(
      `${script}⟨U+001B⟩[31mred⟨U+001B⟩[0m user⟨U+202E⟩gpj.exe⟨U+0000⟩ \u05e9\u05dc\u05d5\u05dd`,
    )
    await run.getByText('Invisible characters are shown as code points').waitFor()
    expect(await run.locator('script, img').count()).toBe(0)
    await expectAccessible(page, ':slug/w/:ws/log/:run')
    await takeScreenshots(page, 'run-hostile')

    await rowOf(page, 'hostile.large').getByRole('link').click()
    await run.getByText('Only the first 65.5 kB were stored.').waitFor()
    await rowOf(page, 'hostile.binary').getByRole('link').click()
    await body.getByText('ff fe 3c 73 63 72 00 80').waitFor()
    await run.getByRole('button', { name: 'Base64' }).click()
    await body.getByText('//48c2NyAIA=').waitFor()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      run.getByRole('button', { name: 'Download response body' }).click(),
    ])
    expect(Buffer.concat(await (await file.createReadStream()).toArray()).toString('hex')).toBe('fffe3c7363720080')
    expect(await page.title()).toBe('Run of hostile.binary · Belfry')
  })
})
