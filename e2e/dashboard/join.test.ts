import { waitFor } from '@belfry/testing/wait-for'
import { describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

const nobodyYet = /status of 401/

describe('the links of mails in the dashboard', { timeout: 180_000 }, () => {
  const stage = useStage()

  const linkTo = async (address: string, subject: RegExp) => {
    const [mail] = await waitFor(
      async () => stage.mailServer.mails.filter(({ to, subject: text }) => to.includes(address) && subject.test(text)),
      mails => mails.length > 0,
      60_000,
    )
    return new URL(/http:\/\/127\.0\.0\.1:\d+\/[\w-]+\/[\w-]{43}/.exec(mail?.text ?? '')?.[0] ?? '').pathname
  }

  it('an invitation opens an account and joins; a viewer is offered no more than reading, and reads why', async () => {
    const { organizationId, workspaceId } = stage.belfry.caller
    const body = { email: 'grace@example.com', role: 'member', workspace_ids: [workspaceId] }
    const invite = `/api/v1/organizations/${organizationId}/invitations`
    const as = { token: stage.belfry.caller.token ?? '' }
    expect((await stage.belfry.call('POST', invite, body, as)).status).toBe(201)
    const page = await stage.newPage({ expected: nobodyYet })
    await page.goto(await linkTo('grace@example.com', /^Join Acme/))
    await page.getByRole('heading', { name: 'Join Acme', exact: true }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'join')
    await page.getByLabel('Name').fill('Grace Hopper')
    await page.getByLabel('Password').fill('a password of hers')
    await page.getByRole('button', { name: 'Open an account and join' }).click()
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()

    await page.getByRole('button', { name: 'Main' }).click()
    const refused = page.getByRole('menuitem', { name: 'New workspace' })
    expect(await refused.textContent()).toContain('members_can_create_workspaces')
    expect(await refused.getAttribute('aria-disabled')).toBe('true')
    await page.keyboard.press('Escape')
    await page.goto(`${await stage.home()}/first-steps`)
    await page.getByText('Ask an owner or admin for a key.').waitFor()
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('heading', { name: 'General', exact: true }).waitFor()
    for (const name of ['API keys', 'Invitations', 'Tier and usage', 'Audit log']) {
      expect(await page.getByRole('link', { name }).count(), name).toBe(0)
    }
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Go to, or do…').waitFor()
    expect(await page.getByRole('option', { name: 'New task' }).count()).toBe(0)
  })

  it('a forgotten password is replaced', async () => {
    const page = await stage.newPage({ expected: nobodyYet })
    await page.goto('/sign-in')
    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    // Both pages have a field of this name.
    await page.getByRole('heading', { name: 'Forgot your password?', exact: true }).waitFor()
    await page.getByLabel('E-mail').fill('grace@example.com')
    await page.getByRole('button', { name: 'Send the link' }).click()
    await page.getByRole('heading', { name: 'Look into your mail', exact: true }).waitFor()
    await page.goto(await linkTo('grace@example.com', /password/))
    await page.getByLabel('New password').fill('short')
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.getByText('A password has at least 12 characters.').waitFor()
    await expectAccessible(page)
    await page.getByLabel('New password').fill('another good password')
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.getByLabel('E-mail').fill('grace@example.com')
    await page.getByLabel('Password').fill('another good password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
  })
})
