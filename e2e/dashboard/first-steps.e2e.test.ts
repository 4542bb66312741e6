import { describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { signUpViewer } from './sign-up-viewer.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

const email = 'ada@first-steps.example'
const password = 'correct horse battery'
// The browser logs the request for the user before sign-in.
const signedOut = /status of 401/

describe('the first steps in the dashboard', { timeout: 180_000 }, () => {
  const stage = useStage()

  it('lead from registration to the first live run', async () => {
    const page = await stage.newPage({ expected: signedOut })
    await page.goto('/')
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
    await expectAccessible(page, 'sign-in')
    await takeScreenshots(page, 'sign-in')

    await page.getByRole('link', { name: 'Create an account' }).click()
    await page.getByRole('heading', { name: 'Create account', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByText('Use at least 12 characters.').waitFor()
    await expectAccessible(page, 'register')
    await takeScreenshots(page, 'register')
    await page.getByLabel('Name').fill('Ada Lovelace')
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Create account' }).click()

    await page.getByRole('heading', { name: 'Confirm your email address', exact: true }).waitFor()
    await expectAccessible(page, 'welcome')
    await takeScreenshots(page, 'confirm-first')
    await page.getByRole('button', { name: 'Send another email' }).click()
    await page.getByText('Email sent.', { exact: true }).waitFor()
    await page.goto(await stage.mailedLink(email, /^Confirm/))
    await page.getByRole('heading', { name: 'Confirm your email address', exact: true }).waitFor()
    await expectAccessible(page, 'confirm-email')
    await takeScreenshots(page, 'confirm-email')
    await page.getByRole('button', { name: 'Confirm' }).click()

    await page.getByRole('heading', { name: 'Create organization', exact: true }).waitFor()
    await expectAccessible(page, 'welcome')
    await takeScreenshots(page, 'welcome')
    await page.getByLabel('Organization').fill('Analytical Engines')
    await page.getByRole('button', { name: 'Create' }).click()

    await page.getByRole('heading', { name: 'First steps', exact: true }).waitFor()
    expect(page.url()).toMatch(/\/analytical-engines\/w\/ws_[a-z0-9]{26}\/first-steps$/)
    await page.getByRole('button', { name: 'Create key' }).click()
    const key = await page.getByRole('figure', { name: 'API key' }).locator('code').textContent()
    expect(key).toMatch(/^bf_/)
    expect(await page.getByRole('figure', { name: 'curl command' }).textContent()).toContain(key)

    await page.getByLabel('Target URL').fill(stage.receiver.url('/hello'))
    await page.getByRole('button', { name: 'Send a test' }).click()
    const row = page.getByRole('region', { name: 'Live runs' }).getByRole('row').nth(1)
    await row.getByText('Success').waitFor()
    expect(stage.receiver.requestsTo('/hello')).toHaveLength(1)
    const fonts = await page.evaluate(() => [...document.fonts].map(({ family, status }) => `${family}: ${status}`))
    expect(fonts.sort()).toEqual(['Geist Mono: loaded', 'Geist: loaded'])
    await expectAccessible(page, ':slug/w/:ws/first-steps')
    await takeScreenshots(page, 'first-steps')

    await page.getByRole('link', { name: 'Go to overview' }).click()
    const guard = page.getByRole('dialog', { name: 'Leave without the key?' })
    await guard.waitFor()
    await expectAccessible(page, ':slug/w/:ws/first-steps')
    await takeScreenshots(page, 'first-steps-guard')
    await guard.getByRole('button', { name: 'Cancel' }).click()
    await guard.waitFor({ state: 'detached' })
    expect(await page.getByRole('figure', { name: 'API key' }).locator('code').textContent()).toBe(key)
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download .env' }).click(),
    ])
    expect((await (await file.createReadStream()).toArray()).join('')).toContain(`BELFRY_API_KEY=${key}\n`)

    // The key is saved, so nothing asks any more.
    await page.reload()
    await page.getByText('has an API key.').waitFor()
    await page.getByRole('button', { name: 'Create another key' }).waitFor()
    await expect.poll(() => page.getByLabel('Done').count(), { timeout: 20_000 }).toBe(2)
    await page.getByRole('link', { name: 'Go to overview' }).click()
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
    await takeScreenshots(page, 'overview')
  })

  it('ends the session on sign-out; a protected page leads to sign-in and back', async () => {
    const { email, password, token } = await signUpViewer(stage)
    const page = await stage.newPage({ token, expected: signedOut })
    const home = await stage.home()
    await page.goto(`${home}/tasks`)
    await page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor()
    await page.getByRole('button', { name: 'A viewer' }).click()
    await takeScreenshots(page, 'user-menu')
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()

    await page.goto('/account/profile')
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill('not the password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL('**/account/profile')
  })

  it('reports an invitation that does not exist', async () => {
    const page = await stage.newPage({ expected: /status of 40/ })
    await page.goto('/invitations#nothing')
    await page.getByRole('heading', { name: 'This invitation is no longer valid', exact: true }).waitFor()
    await expectAccessible(page, 'invitations')
  })
})
