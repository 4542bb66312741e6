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
    await expectAccessible(page)
    await takeScreenshots(page, 'settings-api-keys-new')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('heading', { name: 'Copy your API key', exact: true }).waitFor()
    const key = (await page.getByRole('dialog').getByText(/^bf_/).textContent()) ?? ''
    const read = () => stage.belfry.call('GET', '/api/v1/scheduler/tasks', undefined, { apiKey: key })
    expect((await read()).status).toBe(200)
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await expectAccessible(page)
    await takeScreenshots(page, 'settings-api-keys')
    expect(await page.getByText(key).count()).toBe(0)

    await page.getByRole('button', { name: 'Revoke Billing server' }).click()
    await page.getByRole('button', { name: 'Revoke key' }).click()
    await page.getByText('Revoked', { exact: true }).waitFor()
    expect((await read()).status).toBe(401)
  })

  it('creates a key that may only publish and one with selected rights, and rolls a key', async () => {
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/settings/api-keys`)
    const newKey = async () => {
      await page.getByRole('heading', { name: 'Copy your API key', exact: true }).waitFor()
      const key = (await page.getByRole('dialog').getByText(/^bf_/).textContent()) ?? ''
      await page.getByRole('button', { name: 'I have copied it' }).click()
      return key
    }
    const open = async (name: string, access: string) => {
      await page.getByRole('button', { name: 'New API key' }).first().click()
      await page.getByRole('textbox', { name: 'Name' }).fill(name)
      await page.getByLabel('Access').selectOption(access)
    }
    await open('Shop', 'publish')
    await page.getByRole('textbox', { name: 'Allowed addresses' }).fill('127.0.0.0/8\n::1/128')
    await page.getByRole('button', { name: 'Create key' }).click()
    const apiKey = await newKey()
    const task = { name: 'Receipt', url: stage.receiver.url('/receipt'), method: 'POST' }
    const body = { ...task, execute_at: new Date(Date.now() + 3_600_000).toISOString() }
    const call = (method: string, path: string, sent?: unknown) =>
      stage.belfry.call(method, `/api/v1/scheduler/${path}`, sent, { apiKey })
    expect((await call('POST', 'tasks', body)).status).toBe(201)
    expect((await call('GET', 'tasks')).status).toBe(403)
    expect((await call('GET', 'runs')).status).toBe(403)
    await page.getByText('Publish only').waitFor()

    await open('Monitor', 'rights')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('Select at least one right.').waitFor()
    await page.getByRole('checkbox', { name: 'queue.read' }).click()
    await page.getByRole('checkbox', { name: 'run.read' }).click()
    await expectAccessible(page)
    await takeScreenshots(page, 'settings-api-keys-rights')
    await page.getByRole('button', { name: 'Create key' }).click()
    await newKey()
    await page.getByText('2 rights').waitFor()

    await page.getByRole('button', { name: 'Roll Shop' }).click()
    await page.getByLabel('Keep the previous key').selectOption('3600000')
    await expectAccessible(page)
    await takeScreenshots(page, 'settings-api-keys-roll')
    await page.getByRole('button', { name: 'Roll key' }).click()
    expect(await newKey()).not.toBe(apiKey)
    await page.getByText('From 127.0.0.0/8, ::1/128').nth(1).waitFor()
    await takeScreenshots(page, 'settings-api-keys-scopes')
    for (const name of ['Monitor', 'Shop', 'Shop']) {
      await page
        .getByRole('button', { name: `Revoke ${name}` })
        .first()
        .click()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
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
    await page.getByText('{{ secrets.API_TOKEN }}').waitFor()
    await expectAccessible(page)
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

  it('rotates the signing secret, and revokes the previous one', async () => {
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/settings/signing-secrets`)
    await page.getByText('Current').waitFor()
    await page.getByRole('button', { name: 'Show signing secret' }).click()
    await page.getByText(/^whsec_[A-Za-z0-9+/=]{20,}$/).waitFor()
    await page.getByRole('button', { name: 'Rotate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
    await page.getByText('Previous, expires').waitFor()
    await page.getByRole('switch', { name: 'Sign with Ed25519 too' }).click()
    await page.getByRole('button', { name: 'Copy public key' }).first().waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'settings-signing-secrets')
    await page.getByRole('button', { name: 'Revoke previous secret' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('Previous, expires').waitFor({ state: 'detached' })
  })

  it('creates, tests, edits and deletes an integration', async () => {
    const page = await stage.ownerPage()
    stage.receiver.answer('/broken', { status: 503 })
    await page.goto(`${await stage.home()}/settings/integrations`)
    await page.getByRole('button', { name: 'New integration' }).first().click()
    await page.getByLabel('Channel').selectOption('webhook')
    await page.getByRole('textbox', { name: 'Name' }).fill('On call')
    await page.getByRole('textbox', { name: 'URL' }).fill(stage.receiver.url('/broken'))
    await expectAccessible(page)
    await takeScreenshots(page, 'settings-integrations-new')
    await page.getByRole('button', { name: 'Create integration' }).click()
    await page.getByRole('button', { name: 'Send a test to On call' }).click()
    await page.getByText('The receiver answered 503.').first().waitFor()
    await page.getByRole('button', { name: 'Edit On call' }).click()
    await page.getByRole('textbox', { name: 'URL' }).fill(stage.receiver.url('/alerts'))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('On call updated').first().waitFor()
    await page.getByRole('button', { name: 'Send a test to On call' }).click()
    await page.getByText('Test delivered to On call').first().waitFor()
    expect(stage.receiver.requestsTo('/alerts')).toHaveLength(1)
    await expectAccessible(page)
    await takeScreenshots(page, 'settings-integrations')
    await page.getByRole('button', { name: 'Delete On call' }).click()
    await page.getByRole('button', { name: 'Delete integration' }).click()
    await page.getByRole('heading', { name: 'No integrations yet', exact: true }).waitFor()
  })
})
