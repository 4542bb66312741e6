import { describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe('the settings of a workspace', { timeout: 180_000 }, () => {
  const stage = useStage()

  it('creates an API key that works until it is revoked', async () => {
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/settings/api-keys`)
    await page.getByRole('button', { name: 'New API key' }).first().click()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('Enter a name.').waitFor()
    await page.getByRole('textbox', { name: 'Name' }).fill('Billing server')
    await page.getByText('Enter a name.').waitFor({ state: 'detached' })
    await page.getByLabel('Expires').selectOption('30')
    await takeScreenshots(page, 'settings-api-keys-new')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('heading', { name: 'Copy your API key', exact: true }).waitFor()
    const key = (await page.getByRole('dialog').getByText(/^bf_/).textContent()) ?? ''
    const read = () => stage.belfry.call('GET', '/api/v1/scheduler/tasks', undefined, { apiKey: key })
    expect((await read()).status).toBe(200)
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await expectAccessible(page, ':slug/w/:ws/settings/api-keys')
    await takeScreenshots(page, 'settings-api-keys')
    expect(await page.getByText(key).count()).toBe(0)

    await page.getByRole('button', { name: 'Revoke Billing server' }).click()
    await page.getByRole('button', { name: 'Revoke key' }).click()
    await page.getByText('Revoked', { exact: true }).waitFor()
    expect((await read()).status).toBe(401)
  })

  it('creates, replaces and deletes a secret, and never shows it', async () => {
    const page = await stage.ownerPage({ expected: /status of 400/ })
    await page.goto(`${await stage.home()}/settings/secrets`)
    await takeScreenshots(page, 'settings-secrets-none')
    await page.getByRole('button', { name: 'New secret' }).first().click()
    await page.getByRole('textbox', { name: 'Name' }).fill('api token')
    await page.getByRole('textbox', { name: 'Value' }).fill('first-value-of-it')
    await page.getByRole('button', { name: 'Create secret' }).click()
    await page.getByText('Use capital letters').waitFor()
    await page.getByRole('textbox', { name: 'Name' }).fill('API_TOKEN')
    await page.getByRole('button', { name: 'Create secret' }).click()
    await page.getByText('API_TOKEN created').first().waitFor()
    await page.getByRole('button', { name: 'Edit API_TOKEN' }).waitFor()
    await expectAccessible(page, ':slug/w/:ws/settings/secrets')
    await takeScreenshots(page, 'settings-secrets')
    await page.getByRole('button', { name: 'Edit API_TOKEN' }).click()
    await page.getByRole('textbox', { name: 'Value' }).fill('abc')
    await page.getByRole('button', { name: 'Replace value' }).click()
    await page
      .getByText(/at least|four|characters/i)
      .first()
      .waitFor()
    await page.getByRole('textbox', { name: 'Value' }).fill('another-value-of-it')
    await page.getByRole('button', { name: 'Replace value' }).click()
    await page.getByText('API_TOKEN updated').first().waitFor()
    expect(await page.content()).not.toContain('value-of-it')
    await page.getByRole('button', { name: 'Delete API_TOKEN' }).click()
    await page.getByRole('button', { name: 'Delete secret' }).click()
    await page.getByRole('heading', { name: 'No secrets yet', exact: true }).waitFor()
  })
})
