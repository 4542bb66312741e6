import { waitFor } from '@belfry/test-support/wait-for'
import { beforeAll, describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

const rejectedByTheApi = /status of (400|401|402|409)/

describe('the settings of an organization', { timeout: 240_000 }, () => {
  const stage = useStage()

  const asOwner = () => ({ token: stage.belfry.caller.token ?? '' })
  const organizationPath = () => `/api/v1/organizations/${stage.belfry.caller.organizationId}`
  const setTier = (tier: string) => stage.belfry.call('PUT', `${organizationPath()}/subscription`, { tier }, asOwner())

  beforeAll(async () => {
    expect((await setTier('free')).status).toBe(200)
  })

  const settings = async (page: string) => `/${(await stage.home()).split('/')[1]}/settings/${page}`

  it('invites a member, who joins in another browser and can do only what role and policy allow', async () => {
    const owner = await stage.ownerPage({ expected: rejectedByTheApi })
    await owner.goto(await settings('invitations'))
    await owner.getByRole('heading', { name: 'No invitations yet', exact: true }).waitFor()
    await owner.goto(await settings('members'))
    await owner.getByRole('link', { name: 'Invite member' }).click()
    await owner.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
    await owner.waitForURL(/\/invitations$/)
    await owner.getByRole('button', { name: 'Invite member' }).first().click()
    await owner.getByLabel('Email address').fill('grace@organization.example')
    await owner.getByLabel('Main').click()
    await expectAccessible(owner, ':slug/settings/invitations')
    await takeScreenshots(owner, 'settings-invitations-new')
    await owner.getByRole('button', { name: 'Send invitation' }).click()
    await owner.getByText('Pending, expires').waitFor()
    await expectAccessible(owner, ':slug/settings/invitations')
    await takeScreenshots(owner, 'settings-invitations')

    const grace = await stage.newPage({ expected: rejectedByTheApi })
    await grace.goto(await stage.mailedLink('grace@organization.example'))
    await grace.getByLabel('Name').fill('Grace Hopper')
    await grace.getByLabel('Password').fill('a password of hers')
    await grace.getByRole('button', { name: 'Create account and join' }).click()
    await grace.getByRole('heading', { name: 'Overview', exact: true }).waitFor()

    for (const page of ['general', 'members', 'policy', 'workspaces']) {
      await grace.goto(await settings(page))
      await grace.getByRole('heading', { level: 1 }).waitFor()
      for (const name of [/^Save/, /^Edit/, /^Remove/, /^Delete /]) {
        expect(await grace.getByRole('button', { name }).count(), `${name} on ${page}`).toBe(0)
      }
    }
    for (const page of ['invitations', 'usage', 'audit-log']) {
      await grace.goto(await settings(page))
      await grace.getByRole('heading', { name: 'You do not have access to this page', exact: true }).waitFor()
    }
    await grace.goto(await settings('policy'))
    const invite = grace.getByRole('switch', { name: 'Invite people' })
    expect(await invite.getAttribute('aria-disabled')).toBe('true')
    await invite.focus()
    await grace.getByRole('tooltip').waitFor()
    expect(await invite.getAttribute('aria-describedby')).toMatch(/-hint \S+$/) // its hint and the tooltip

    await owner.goto(await settings('policy'))
    await owner.getByRole('switch', { name: 'Invite people' }).click()
    await waitFor(
      async () => (await stage.belfry.call('GET', organizationPath(), undefined, asOwner())).body,
      body => body.policy.members_can_invite === true,
    )
    await expectAccessible(owner, ':slug/settings/policy')
    await takeScreenshots(owner, 'settings-policy')
    await grace.goto(await settings('invitations'))
    await grace.getByRole('button', { name: 'Invite member' }).click()
    await grace.getByLabel('Role', { exact: true }).waitFor()
    // Members can grant only their own role.
    expect(await grace.getByLabel('Role', { exact: true }).locator('option').count()).toBe(1)
  })

  it('changes roles, in a workspace too; the last owner cannot leave, and sees why', async () => {
    const page = await stage.ownerPage({ expected: rejectedByTheApi })
    await page.goto(await settings('members'))
    await page.getByLabel('Role of Grace Hopper').selectOption('admin')
    await page.getByText('Role of Grace Hopper changed to admin').first().waitFor()
    await page.getByLabel('Role of Grace Hopper').selectOption('member')
    await page.getByText('Role of Grace Hopper changed to member').first().waitFor()
    await expectAccessible(page, ':slug/settings/members')
    await takeScreenshots(page, 'settings-members')
    expect(await page.getByLabel('Role of A user').count()).toBe(0)
    await page.getByRole('button', { name: 'Leave' }).focus()
    await page.getByText('You are the only owner.').first().waitFor()

    await page.goto(`${await stage.home()}/settings/members`)
    await page.getByLabel('Role of Grace Hopper').selectOption('editor')
    await waitFor(
      async () =>
        (
          await stage.belfry.call('GET', `/api/v1/workspaces/${stage.belfry.caller.workspaceId}/members`, undefined, {
            token: stage.belfry.caller.token ?? '',
          })
        ).body.data,
      members => members.some(({ role }: { role: string }) => role === 'editor'),
    )
    await expectAccessible(page, ':slug/w/:ws/settings/members')
    await takeScreenshots(page, 'settings-workspace-members')
    await page.getByRole('button', { name: 'Remove Grace Hopper from the workspace' }).click()
    await page
      .getByLabel('Member to add')
      .selectOption({ label: 'Grace Hopper (grace@organization.example) as viewer' })
    await page.getByRole('button', { name: 'Add member' }).click()
    await page.getByLabel('Role of Grace Hopper').waitFor()
  })

  it('creates, renames and deletes workspaces; above the limit of the tier it shows the error of the API', async () => {
    const page = await stage.ownerPage({ expected: rejectedByTheApi })
    const name = async (text: string, action: string) => {
      await page.getByRole('textbox', { name: 'Name', exact: true }).fill(text)
      await page.getByRole('button', { name: action }).click()
    }
    await page.goto(`${await settings('workspaces')}?new=1`)
    await name('Staging', 'Create workspace')
    await page.getByRole('button', { name: 'Edit Staging' }).click()
    await name('Stage', 'Save')
    await page.getByRole('link', { name: 'Stage', exact: true }).waitFor()
    await expectAccessible(page, ':slug/settings/workspaces')
    await takeScreenshots(page, 'settings-workspaces')
    await page.getByRole('button', { name: 'New workspace' }).click()
    await name('One too many', 'Create workspace')
    await page.getByRole('alert').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Delete Stage' }).click()
    await page.getByRole('button', { name: 'Delete workspace' }).click()
    await page.getByText('The name does not match.').waitFor()
    await page.getByLabel('Type the name of the workspace to confirm').fill('Stage')
    await page.getByRole('button', { name: 'Delete workspace' }).click()
    await page.getByRole('link', { name: 'Stage', exact: true }).waitFor({ state: 'detached' })
  })

  it('shows usage, changes the tier, and records it in the audit log', async () => {
    const page = await stage.ownerPage()
    await page.goto(await settings('usage'))
    await page.getByText('of 10,000').waitFor()
    await page.getByRole('button', { name: 'Executions per day: show as table' }).click()
    await page.getByRole('columnheader', { name: 'Dead' }).waitFor()
    await page.getByRole('button', { name: 'Executions per day: show as chart' }).click()
    await expectAccessible(page, ':slug/settings/usage')
    await takeScreenshots(page, 'settings-usage')
    await page.getByLabel('New tier').selectOption('startup')
    await page.getByRole('button', { name: 'Change tier' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Change tier' }).click()
    await page.getByText('of 500,000').waitFor()

    // An installation without limits has no tiers to show.
    expect((await setTier('unlimited')).status).toBe(200)
    await page.reload()
    await page.getByRole('heading', { name: 'Limits', exact: true }).waitFor()
    await page.getByText('Unlimited').first().waitFor()
    expect(await page.getByText(/\btier\b/i).count()).toBe(0)
    await takeScreenshots(page, 'settings-usage-unlimited')
    await setTier('startup')

    await page.goto(await settings('audit-log'))
    await page.getByRole('row').filter({ hasText: 'Organization tier changed' }).getByText('free → startup').waitFor()
    await page
      .getByRole('row')
      .filter({ hasText: 'Member role changed' })
      .first()
      .getByText('Grace', { exact: false })
      .waitFor()
    await expectAccessible(page, ':slug/settings/audit-log')
    await takeScreenshots(page, 'settings-audit-log')
    await page.getByRole('combobox', { name: 'Action' }).selectOption('member')
    // The full list contains changed roles too, so the other entry has to disappear first.
    await page.getByText('Organization tier changed', { exact: true }).first().waitFor({ state: 'detached' })
    await page.getByText('Member role changed', { exact: true }).first().waitFor()
    expect(await page.getByText('Organization tier changed', { exact: true }).count()).toBe(0)
    expect(new URL(page.url()).search).toBe('?group=member')
  })

  it('changes name and slug, and the URLs with them; the profile too', async () => {
    const page = await stage.ownerPage({ expected: rejectedByTheApi })
    await page.goto(await settings('general'))
    await page.getByLabel('Slug').fill('Not a slug')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Use 2 to 63 lowercase letters').waitFor()
    await expectAccessible(page, ':slug/settings/general')
    await takeScreenshots(page, 'settings-general')
    await page.getByLabel('Slug').fill('acme-rockets')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL('**/acme-rockets/settings/general')
    await page.getByRole('heading', { name: 'General', exact: true }).waitFor()

    await page.goto('/account/profile')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Ada King')
    await page.getByRole('button', { name: 'Save name' }).click()
    await page.getByText('Name saved').first().waitFor()
    await page.getByLabel('Current password').fill('not the present one')
    await page.getByLabel('New password').fill('another good password')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('The current password is wrong.').waitFor()
    await takeScreenshots(page, 'profile')
  })
})
