import { describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { signUpViewer } from './sign-up-viewer.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

const expected = /status of 401/

describe('emailed links in the dashboard', { timeout: 180_000 }, () => {
  const stage = useStage()

  it('accepts an invitation with a new account; a viewer can only read, and sees why', async () => {
    const { organizationId, workspaceId } = stage.belfry.caller
    const body = { email: 'grace@join.example', role: 'member', workspace_ids: [workspaceId] }
    const invite = `/api/v1/organizations/${organizationId}/invitations`
    const as = { token: stage.belfry.caller.token ?? '' }
    expect((await stage.belfry.call('POST', invite, body, as)).status).toBe(201)
    const page = await stage.newPage({ expected })
    await page.goto(await stage.mailedLink('grace@join.example', /^Join Acme/))
    await page.getByRole('heading', { name: 'Join Acme', exact: true }).waitFor()
    await expectAccessible(page, 'invitations')
    await takeScreenshots(page, 'join')
    await page.getByLabel('Name').fill('Grace Hopper')
    await page.getByLabel('Password').fill('a password of hers')
    await page.getByRole('button', { name: 'Create account and join' }).click()
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()

    await page.getByRole('button', { name: 'Main' }).click()
    const refused = page.getByRole('menuitem', { name: 'New workspace' })
    expect(await refused.textContent()).toContain("doesn't let members create workspaces")
    expect(await refused.getAttribute('aria-disabled')).toBe('true')
    await page.keyboard.press('Escape')
    await page.goto(`${await stage.home()}/first-steps`)
    await page.getByText('Ask an owner or admin for a key.').waitFor()
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('heading', { name: 'General', exact: true }).waitFor()
    for (const name of ['API keys', 'Invitations', 'Usage and limits', 'Audit log']) {
      expect(await page.getByRole('link', { name }).count(), name).toBe(0)
    }
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Search by name, label, host or ID').waitFor()
    expect(await page.getByRole('option', { name: 'New task' }).count()).toBe(0)
  })

  it('replaces a forgotten password', async () => {
    const { email } = await signUpViewer(stage)
    const page = await stage.newPage({ expected })
    await page.goto('/sign-in')
    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    // Both pages have a field of this name.
    await page.getByRole('heading', { name: 'Forgot your password?', exact: true }).waitFor()
    await expectAccessible(page, 'forgot-password')
    await takeScreenshots(page, 'forgot-password')
    await page.getByLabel('Email').fill(email)
    await page.getByRole('button', { name: 'Send link' }).click()
    await page.getByRole('heading', { name: 'Check your email', exact: true }).waitFor()
    await page.goto(await stage.mailedLink(email, /password/))
    await page.getByLabel('New password').fill('short')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('Use at least 12 characters.').waitFor()
    await expectAccessible(page, 'reset-password')
    await takeScreenshots(page, 'reset-password')
    await page.getByLabel('New password').fill('another good password')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill('another good password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
  })
})
