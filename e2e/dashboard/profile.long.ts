import { describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { signUpViewer } from './sign-up-viewer.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe('the profile of a user', { timeout: 180_000 }, () => {
  const stage = useStage()

  it('lists sessions, ends one and all others', async () => {
    const { token, ...account } = await signUpViewer(stage)
    const signIn = async (): Promise<string> =>
      (await stage.belfry.call('POST', '/api/v1/auth/login', account, {})).body.token
    const me = async (of: string) =>
      (await stage.belfry.call('GET', '/api/v1/auth/me', undefined, { token: of })).status
    const [phone, tablet] = [await signIn(), await signIn()]
    const page = await stage.newPage({ token })
    await page.goto('/account/profile')
    await page.getByText('This session').waitFor()
    await expectAccessible(page, 'account/profile')
    await takeScreenshots(page, 'profile-sessions')
    const ends = page.getByRole('button', { name: /^End the session of/ })
    expect(await ends.count()).toBe(2)
    await ends.first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click()
    await page.getByText('Session ended').first().waitFor()
    await expect.poll(() => ends.count()).toBe(1)
    expect([await me(tablet), await me(phone), await me(token)]).toEqual([401, 200, 200])
    await page.getByRole('button', { name: 'End all other sessions' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End sessions' }).click()
    await page.getByText('All other sessions ended').first().waitFor()
    await expect.poll(() => ends.count()).toBe(0)
    expect([await me(phone), await me(token)]).toEqual([401, 200])
  })

  it('exports the data of the account, and deletes it', async () => {
    const { token, ...account } = await signUpViewer(stage)
    const page = await stage.newPage({ token, expected: /status of 40[01]/ })
    await page.goto('/account/profile')
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export data' }).click()
    const download = await downloading
    expect(download.suggestedFilename()).toBe('belfry-account.json')
    await page.getByRole('button', { name: 'Delete account' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Password').fill('a wrong password')
    await dialog.getByRole('button', { name: 'Delete account' }).click()
    await dialog.getByText('The current password is wrong.').waitFor()
    await expectAccessible(page, 'account/profile')
    await takeScreenshots(page, 'profile-delete')
    await dialog.getByLabel('Password').fill(account.password)
    await dialog.getByRole('button', { name: 'Delete account' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    expect((await stage.belfry.call('POST', '/api/v1/auth/login', account, {})).status).toBe(401)
  })
})
