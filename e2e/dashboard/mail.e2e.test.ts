import { describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

const operator = 'root@operators.example'
const password = 'correct horse battery'

describe('mail', { timeout: 180_000 }, () => {
  const stage = useStage({ OPERATORS: operator, REGISTRATION: 'open', CONFIRM_EMAILS: 'off' })

  it('a recipient unsubscribes with the link of an alert, and its integration is unconfirmed', async () => {
    const { belfry } = stage
    const path = `/api/v1/workspaces/${belfry.caller.workspaceId}/integrations`
    const integration = { name: 'On call', channel: 'email', email: 'ops@example.com', events: ['task.dead'] }
    const { id } = (await belfry.call('POST', path, integration)).body
    expect((await belfry.call('POST', `${path}/${id}/test`)).body).toEqual({ delivered: true, error: null })
    const page = await stage.newPage({ expected: /status of 400/ })
    await page.goto('/unsubscribe#nonsense')
    await page.getByRole('button', { name: 'Unsubscribe' }).click()
    await page.getByText('The link is not from a mail of this installation.').waitFor()
    const link = /http:\/\/127\.0\.0\.1:\d+(\/unsubscribe#[\w-]+)/.exec(stage.mailServer.mails.at(-1)?.text ?? '')?.[1]
    await page.goto('/sign-in')
    await page.goto(link ?? '')
    await expectAccessible(page)
    await takeScreenshots(page, 'unsubscribe')
    await page.getByRole('button', { name: 'Unsubscribe' }).click()
    await page.getByRole('heading', { name: 'You are unsubscribed' }).waitFor()
    await takeScreenshots(page, 'unsubscribed')
    await page.goto('/confirm-alerts#nonsense')
    await page.getByRole('heading', { name: 'Receive alerts?' }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'confirm-alerts')
    expect((await belfry.call('GET', `${path}/${id}`)).body.confirmed).toBe(false)
  })

  it('an operator blocks an address and unblocks it', async () => {
    const account = { email: operator, password, name: 'Root' }
    const { token } = (await stage.belfry.call('POST', '/api/v1/auth/register', account)).body
    const page = await stage.newPage({ token })
    await page.goto('/admin')
    await page.getByRole('link', { name: 'Blocked addresses' }).click()
    await page.getByText('No blocked addresses').waitFor()
    await page.getByRole('button', { name: 'Block address' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Email address', { exact: true }).fill('victim@example.com')
    await dialog.getByLabel(/^Reason/).fill('Complaint')
    await takeScreenshots(page, 'block-address')
    await dialog.getByRole('button', { name: 'Block address' }).click()
    await page.getByRole('cell', { name: 'victim@example.com' }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'blocked-addresses')
    await page.getByRole('button', { name: 'Unblock' }).click()
    await page.getByText('No blocked addresses').waitFor()
    await page.getByRole('link', { name: 'Operator log' }).click()
    await page.getByText('address.unblocked').waitFor()
    await takeScreenshots(page, 'operator-log')
  })

  it('an operator reaches every page of the console on a narrow screen', async () => {
    const login = await stage.belfry.call('POST', '/api/v1/auth/login', { email: operator, password })
    const page = await stage.newPage({ token: login.body.token, size: 'narrow' })
    await page.goto('/admin')
    for (const name of ['Blocked addresses', 'Operator log', 'Target hosts', 'Organizations']) {
      await page.getByRole('button', { name: 'Pages' }).click()
      await page.getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { name, exact: true }).waitFor()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await page.getByRole('cell', { name: 'Active' }).first().waitFor()
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    expect(overflow).toBeLessThanOrEqual(0)
    await expectAccessible(page)
    await takeScreenshots(page, 'organizations')
    await page.getByRole('link', { name: 'Acme' }).click()
    await page.getByRole('heading', { name: 'Acme', exact: true }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'organization')
    await page.goto('/admin/targets?host=shop.example.com')
    await page.getByRole('heading', { name: 'No calls' }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'target-hosts')
  })

  it('an operator keeps the console, with one main element, when a page fails', async () => {
    const login = await stage.belfry.call('POST', '/api/v1/auth/login', { email: operator, password })
    const page = await stage.newPage({
      token: login.body.token,
      expected: /Cannot destructure|React Router caught/,
    })
    await page.route('**/assets/operator-log-*.js', route =>
      route.fulfill({
        contentType: 'text/javascript',
        body: 'export function OperatorLog() { const { x } = undefined; return x }',
      }),
    )
    await page.goto('/admin')
    await page.getByRole('link', { name: 'Operator log' }).click()
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor()
    expect(await page.getByRole('main').count()).toBe(1)
    expect(await page.getByRole('navigation', { name: 'Pages' }).isVisible()).toBe(true)
    await expectAccessible(page)
  })

  it('the profile shows the sign-ins of the user', async () => {
    const account = { email: 'ada@example.com', password, name: 'Ada' }
    const { token } = (await stage.belfry.call('POST', '/api/v1/auth/register', account)).body
    const attempt = { email: account.email, password: 'a wrong password' }
    await stage.belfry.call('POST', '/api/v1/auth/login', attempt)
    const page = await stage.newPage({ token })
    // The entries are written after the answer.
    await expect
      .poll(
        async () => {
          await page.goto('/account/profile')
          const cells = page.getByRole('cell', { name: /Signed in|Failed sign-in/ })
          await cells.first().waitFor()
          return cells.allTextContents()
        },
        { timeout: 20_000 },
      )
      .toEqual(['Failed sign-in', 'Signed in'])
    await expectAccessible(page)
    await takeScreenshots(page, 'security-log')
  })
})
