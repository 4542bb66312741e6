import { describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { operatorEmail, useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

const password = 'correct horse battery'

describe('mail', { timeout: 180_000 }, () => {
  const stage = useStage()

  /** Registers a user, who then opens the mailed link. */
  const register = async (account: { email: string; password: string; name: string }): Promise<string> => {
    const { token } = (await stage.belfry.call('POST', '/api/v1/auth/register', account)).body
    const [, confirmation] = (await stage.mailedLink(account.email, /^Confirm/)).split('#')
    await stage.belfry.call('POST', '/api/v1/auth/email/confirm', { token: confirmation }, { token })
    return token
  }

  /** Makes the sessions of the operator ones with a second factor, which the console requires. */
  const useFactor = () =>
    stage.belfry.execute(
      'UPDATE sessions SET has_second_factor = true WHERE user_id = (SELECT id FROM users WHERE email = $1)',
      [operatorEmail],
    )

  it('a recipient agrees to alerts with a mailed link, and unsubscribes with the link of an alert', async () => {
    const { belfry } = stage
    const path = `/api/v1/workspaces/${belfry.caller.workspaceId}/integrations`
    const integration = { name: 'On call', channel: 'email', email: 'ops@example.com', events: ['task.dead'] }
    const { id } = (await belfry.call('POST', path, integration)).body
    const page = await stage.newPage({ expected: /status of 400/ })
    await page.goto(await stage.mailedLink('ops@example.com'))
    await page.getByRole('heading', { name: 'Receive alerts?' }).waitFor()
    await expectAccessible(page, 'confirm-alerts')
    await takeScreenshots(page, 'confirm-alerts')
    await page.getByRole('button', { name: 'Receive alerts' }).click()
    await page.getByRole('heading', { name: 'You will receive alerts' }).waitFor()
    expect((await belfry.call('GET', `${path}/${id}`)).body.confirmed).toBe(true)
    expect((await belfry.call('POST', `${path}/${id}/test`)).body).toEqual({ delivered: true, error: null })

    await page.goto('/unsubscribe#nonsense')
    await page.getByRole('button', { name: 'Unsubscribe' }).click()
    await page.getByText('The link is not from a mail of this installation.').waitFor()
    const alert = stage.mailServer.mails.findLast(({ to }) => to.includes('ops@example.com'))
    const link = /http:\/\/localhost:\d+(\/unsubscribe#[\w-]+)/.exec(alert?.text ?? '')?.[1]
    await page.goto('/sign-in')
    await page.goto(link ?? '')
    await expectAccessible(page, 'unsubscribe')
    await takeScreenshots(page, 'unsubscribe')
    await page.getByRole('button', { name: 'Unsubscribe' }).click()
    await page.getByRole('heading', { name: 'You are unsubscribed' }).waitFor()
    await takeScreenshots(page, 'unsubscribed')
    expect((await belfry.call('GET', `${path}/${id}`)).body.confirmed).toBe(false)
  })

  it('an operator blocks an address and unblocks it', async () => {
    const token = await register({ email: operatorEmail, password, name: 'Root' })
    await useFactor()
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
    await expectAccessible(page, 'admin/mail')
    await takeScreenshots(page, 'blocked-addresses')
    await page.getByRole('button', { name: 'Unblock' }).click()
    await page.getByText('No blocked addresses').waitFor()
    await page.getByRole('link', { name: 'Operator log' }).click()
    await page.getByText('address.unblocked').waitFor()
    await takeScreenshots(page, 'operator-log')
  })

  it('an operator reaches every page of the console on a narrow screen', async () => {
    const login = await stage.belfry.call('POST', '/api/v1/auth/login', { email: operatorEmail, password })
    await useFactor()
    const page = await stage.newPage({ token: login.body.token, size: 'narrow' })
    await page.goto('/admin')
    for (const name of ['Blocked addresses', 'Operator log', 'Hosts', 'Organizations']) {
      await page.getByRole('button', { name: 'Pages' }).click()
      await page.getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { name, exact: true }).waitFor()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await page.getByRole('cell', { name: 'Active' }).first().waitFor()
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    expect(overflow).toBeLessThanOrEqual(0)
    await expectAccessible(page, 'admin')
    await takeScreenshots(page, 'organizations')
    await page.getByRole('link', { name: 'Acme' }).first().click()
    await page.getByRole('heading', { name: 'Acme', exact: true }).waitFor()
    await expectAccessible(page, 'admin/organizations/:org')
    await takeScreenshots(page, 'organization')
    await page.goto('/admin/targets?host=shop.example.com')
    await page.getByRole('heading', { name: 'No calls' }).waitFor()
    await expectAccessible(page, 'admin/targets')
    await takeScreenshots(page, 'operator-hosts')
    await page.goto('/admin/log')
    await page.getByRole('heading', { name: 'Operator log' }).waitFor()
    await expectAccessible(page, 'admin/log')
  })

  it('an operator keeps the console, with one main element, when a page fails', async () => {
    const login = await stage.belfry.call('POST', '/api/v1/auth/login', { email: operatorEmail, password })
    await useFactor()
    const page = await stage.newPage({
      token: login.body.token,
      expected: /Cannot destructure|React Router caught/,
    })
    await page.route('**/assets/tenant-*.js', route =>
      route.fulfill({
        contentType: 'text/javascript',
        body: 'export function TenantPage() { const { x } = undefined; return x }',
      }),
    )
    await page.goto('/admin')
    await page.getByRole('table').getByRole('link').first().click()
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor()
    expect(await page.getByRole('main').count()).toBe(1)
    expect(await page.getByRole('navigation', { name: 'Pages' }).isVisible()).toBe(true)
    await expectAccessible(page, 'admin/organizations/:org')
  })

  it('the profile shows the sign-ins of the user', async () => {
    const account = { email: 'ada@sign-ins.example', password, name: 'Ada' }
    const token = await register(account)
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
    await takeScreenshots(page, 'security-log')
  })
})
