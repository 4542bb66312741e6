import { type OidcIssuer, startOidcIssuer } from '@belfry/test-support/oidc-issuer'
import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

// The pages of the issuer are on another origin. Its sign-in page is opened while the user is signed out.
const expected = /^request: http:\/\/127\.0\.0\.1|status of 40[01]/

describe('an installation with single sign-on whose users need an invitation', { timeout: 180_000 }, () => {
  let issuer: OidcIssuer
  const stage = useStage({
    env: async () => {
      issuer = await startOidcIssuer()
      return {
        OIDC_ISSUER: issuer.url,
        OIDC_CLIENT_ID: issuer.clientId,
        OIDC_CLIENT_SECRET: issuer.clientSecret,
        OIDC_NAME: 'Acme ID',
        OIDC_SCOPES: 'openid email profile groups',
        OIDC_GROUP_ROLES: JSON.stringify({ staff: { organization: 'acme', role: 'member', workspace_role: 'viewer' } }),
        REGISTRATION: 'invite',
      }
    },
  })
  afterAll(() => issuer?.close())

  const signInAs = async (page: Page, login: string) => {
    await page.getByRole('button', { name: 'Continue with Acme ID' }).click()
    await page.getByLabel('Login').fill(login)
    await page.getByRole('button', { name: 'Continue' }).click()
  }

  it('registration is closed to users without an invitation', async () => {
    const page = await stage.newPage({ expected })
    await page.goto('/sign-in')
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
    expect(await page.getByRole('link', { name: 'Create an account' }).count()).toBe(0)
    await page.goto('/register')
    await page.getByRole('heading', { name: 'Registration is closed', exact: true }).waitFor()
    await expectAccessible(page, 'register')
    await takeScreenshots(page, 'registration-closed')
  })

  it('signs a new user of a group in, and out at the issuer', async () => {
    issuer.users.set('ada', { email: 'ada@example.com', email_verified: true, name: 'Ada', groups: ['staff'] })
    const page = await stage.newPage({ expected })
    await page.goto('/account/profile')
    await page.getByRole('button', { name: 'Continue with Acme ID' }).waitFor()
    await expectAccessible(page, 'sign-in')
    await takeScreenshots(page, 'single-sign-on')
    await signInAs(page, 'ada')
    await page.getByRole('heading', { name: 'Your profile', exact: true }).waitFor()
    await page.getByText('ada@example.com').waitFor()
    await page.getByRole('button', { name: 'Delete account' }).click()
    await page.getByText('Not needed within ten minutes after a sign-in with Acme ID.').waitFor()
    await page.keyboard.press('Escape')
    await page.goto(await stage.home())
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
    await page.getByRole('button', { name: /Ada$/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign out of the issuer' }).click()
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
    // Both sessions have ended, so the issuer asks again.
    await page.getByRole('button', { name: 'Continue with Acme ID' }).click()
    await page.getByLabel('Login').waitFor()
  })

  it('accepts an invitation as a user without an account', async () => {
    issuer.users.set('grace', { email: 'grace@labs.example', email_verified: true, name: 'Grace Hopper' })
    const { belfry } = stage
    const as = { token: belfry.caller.token ?? '' }
    const other = await belfry.call('POST', '/api/v1/organizations', { name: 'Labs' }, as)
    const invitation = { email: 'grace@labs.example', role: 'admin' }
    const invited = await belfry.call('POST', `/api/v1/organizations/${other.body.id}/invitations`, invitation, as)
    expect(invited.status).toBe(201)
    const page = await stage.newPage({ expected })
    await page.goto(await stage.mailedLink('grace@labs.example', /^Join Labs/))
    await page.getByRole('button', { name: 'Create account and join' }).waitFor()
    await expectAccessible(page, 'invitations')
    await takeScreenshots(page, 'single-sign-on-join')
    await signInAs(page, 'grace')
    await page.getByRole('button', { name: 'Join', exact: true }).click()
    await page.waitForURL(/\/labs\//)
  })

  it('says why a sign-in failed', async () => {
    issuer.users.set('eve', { email: 'ada@example.com', email_verified: false, name: 'Eve', groups: ['staff'] })
    const page = await stage.newPage({ expected })
    await page.goto('/sign-in')
    await signInAs(page, 'eve')
    await page.getByText('has not verified your email address').waitFor()
    await expectAccessible(page, 'sign-in')
    await takeScreenshots(page, 'single-sign-on-refused')
    // The issuer knows the first user in the first browser.
    const other = await stage.newPage({ expected })
    await other.goto('/sign-in')
    await signInAs(other, 'a stranger')
    await other.getByText('You cancelled the sign-in.').waitFor()
  })
})
