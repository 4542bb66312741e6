import { TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { signUpViewer, type Viewer } from './sign-up-viewer.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

/** Gives the page an authenticator that verifies its user. */
async function addAuthenticator(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    },
  })
}

async function signOut(page: Page): Promise<void> {
  await page.context().clearCookies({ name: 'belfry_session' })
  await page.goto('/sign-in')
}

async function enterPassword(page: Page, account: Viewer): Promise<void> {
  await page.getByLabel('Email').fill(account.email)
  await page.getByLabel('Password').fill(account.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

async function homeOf(page: Page): Promise<string> {
  await page.goto('/')
  await page.waitForURL(/\/w\/ws_/)
  return /^.*\/w\/ws_\w+/.exec(new URL(page.url()).pathname)?.[0] ?? ''
}

describe('second factors', { timeout: 180_000 }, () => {
  const stage = useStage()

  it('an authenticator app and a recovery code sign in after the password', async () => {
    const viewer = await signUpViewer(stage)
    const page = await stage.newPage({ token: viewer.token, expected: /status of 40[013]/ })
    await page.goto('/account/profile')
    await page.getByRole('button', { name: 'Add authenticator app' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('img', { name: 'QR code of the secret' }).waitFor()
    await expectAccessible(page, 'account/profile')
    await takeScreenshots(page, 'factors-app')
    const secret = (await dialog.getByLabel('secret', { exact: true }).locator('code').textContent()) ?? ''
    const totp = new TOTP({ secret })
    await dialog.getByLabel('Code', { exact: true }).fill(totp.generate())
    await dialog.getByRole('button', { name: 'Add authenticator app' }).click()
    const codes = page.getByLabel('recovery codes', { exact: true }).locator('code')
    const [recoveryCode = ''] = ((await codes.textContent()) ?? '').split('\n')
    expect(recoveryCode).toMatch(/^(\w{4}-){3}\w{4}$/)
    await takeScreenshots(page, 'factors-codes')
    await signOut(page)
    await enterPassword(page, viewer)
    await page.getByRole('heading', { name: 'Second factor' }).waitFor()
    await expectAccessible(page, 'sign-in')
    await takeScreenshots(page, 'factors-sign-in')
    await page.getByLabel('Code').fill(totp.generate({ timestamp: Date.now() + 30_000 }))
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.waitForURL(url => !url.pathname.startsWith('/sign-in'))
    await signOut(page)
    await enterPassword(page, viewer)
    await page.getByRole('button', { name: 'Use a recovery code' }).click()
    await page.getByLabel('Recovery code').fill(recoveryCode)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.waitForURL(url => !url.pathname.startsWith('/sign-in'))
    await page.goto('/account/profile')
    await page.getByText('9 recovery codes left.').waitFor()
    await expectAccessible(page, 'account/profile')
    await takeScreenshots(page, 'factors-profile')
  })

  it('a passkey signs in alone, and confirms a dangerous action', async () => {
    const { belfry } = stage
    const page = await stage.ownerPage({ expected: /status of 40[013]/ })
    await addAuthenticator(page)
    await page.goto('/account/profile')
    await page.getByRole('button', { name: 'Add passkey' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Laptop')
    await page.getByRole('dialog').getByRole('button', { name: 'Add passkey' }).click()
    await page.getByText('Save your recovery codes').waitFor()
    await signOut(page)
    await expectAccessible(page, 'sign-in')
    await takeScreenshots(page, 'factors-passkey')
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.waitForURL(url => !url.pathname.startsWith('/sign-in'))
    await belfry.execute(`UPDATE sessions SET confirmed_at = now() - interval '11 minutes'`)
    await page.goto(`${await homeOf(page)}/settings/api-keys`)
    await page.getByRole('button', { name: 'New API key' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('CI')
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    await page.getByText("Confirm it's you").waitFor()
    await expectAccessible(page, ':slug/w/:ws/settings/api-keys')
    await takeScreenshots(page, 'factors-confirm')
    await page.getByRole('button', { name: 'Use passkey' }).click()
    await page
      .getByText(/bf_\w{20}/)
      .first()
      .waitFor()
  })
})
