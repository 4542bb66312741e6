import { describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe('more settings of a workspace', { timeout: 180_000 }, () => {
  const stage = useStage()

  it('creates a key that may only publish and one with selected rights, and rolls a key', async () => {
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/settings/api-keys`)
    const newKey = async () => {
      await page.getByRole('heading', { name: 'Copy your API key', exact: true }).waitFor()
      const key = (await page.getByRole('dialog').getByText(/^bf_/).textContent()) ?? ''
      await page.mouse.click(5, 5) // beside the dialog, which stays
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
    for (const group of ['Queues', 'Runs'])
      await page.getByRole('group', { name: group }).getByRole('checkbox', { name: 'Read' }).click()
    await expectAccessible(page, ':slug/w/:ws/settings/api-keys')
    await takeScreenshots(page, 'settings-api-keys-rights')
    await page.getByRole('button', { name: 'Create key' }).click()
    await newKey()
    await page.getByText('2 rights').waitFor()

    await page.getByRole('button', { name: 'Roll Shop' }).click()
    await page.getByLabel('Keep the previous key').selectOption('3600000')
    await expectAccessible(page, ':slug/w/:ws/settings/api-keys')
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

  it('creates, changes, tests, uses and deletes a connection, and never shows its secret', async () => {
    const page = await stage.ownerPage({ expected: /status of (404|409)/ })
    await page.goto(`${await stage.home()}/settings/connections`)
    await takeScreenshots(page, 'settings-connections-none')
    await page.getByRole('button', { name: 'New connection' }).first().click()
    await page.getByRole('button', { name: 'Create connection' }).click()
    await page.getByText('Enter at least one host.').waitFor()
    await page.getByLabel('Kind').selectOption('oauth2')
    await expectAccessible(page, ':slug/w/:ws/settings/connections')
    await takeScreenshots(page, 'settings-connections-new')
    await page.getByLabel('Kind').selectOption('header')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('billing-api')
    await page.getByRole('textbox', { name: 'Hosts' }).fill(new URL(stage.receiver.url('/')).host)
    await page.getByRole('textbox', { name: 'Value' }).fill('first-value-of-it')
    await page.getByRole('button', { name: 'Create connection' }).click()
    await page.getByText('billing-api', { exact: true }).waitFor()
    await expectAccessible(page, ':slug/w/:ws/settings/connections')
    await takeScreenshots(page, 'settings-connections')

    await page.getByRole('button', { name: 'Edit billing-api' }).click()
    await page.getByRole('textbox', { name: 'Header' }).fill('X-Api-Key')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('billing-api updated').first().waitFor()
    await page.getByRole('button', { name: 'Test billing-api' }).click()
    await page.getByRole('textbox', { name: 'URL' }).fill(stage.receiver.url('/tested'))
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await page.getByText('The target answered 200.').waitFor()
    await expectAccessible(page, ':slug/w/:ws/settings/connections')
    await takeScreenshots(page, 'settings-connections-test')
    const [tested] = stage.receiver.requestsTo('/tested')
    expect(tested?.rawHeaders).toContain('first-value-of-it')
    await page.getByRole('button', { name: 'Close', exact: true }).last().click()
    expect(await page.content()).not.toContain('value-of-it')

    await page.goto(`${await stage.home()}/cron-jobs/new`)
    await page.getByLabel('Connection').selectOption('billing-api')
    await page.getByLabel('Cron expression').fill('30 2 * * *')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Nightly')
    await page.getByLabel('Target URL').fill(stage.receiver.url('/nightly'))
    await takeScreenshots(page, 'cron-job-new-connection')
    await page.getByRole('button', { name: 'Create cron job' }).click()
    await page.getByRole('heading', { name: 'Nightly', exact: true }).waitFor()
    await page.getByRole('term').filter({ hasText: 'Connection' }).waitFor()

    await page.goto(`${await stage.home()}/settings/connections`)
    await page.getByRole('button', { name: 'Delete billing-api' }).click()
    await page.getByRole('button', { name: 'Delete connection' }).click()
    await page.getByText('A cron job or a subscription names the connection.').first().waitFor()
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
    await page.getByRole('switch', { name: 'Also sign with Ed25519' }).click()
    await page.getByRole('button', { name: 'Copy public key' }).first().waitFor()
    await expectAccessible(page, ':slug/w/:ws/settings/signing-secrets')
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
    await expectAccessible(page, ':slug/w/:ws/settings/integrations')
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
    await expectAccessible(page, ':slug/w/:ws/settings/integrations')
    await takeScreenshots(page, 'settings-integrations')
    await page.getByRole('button', { name: 'Delete On call' }).click()
    await page.getByRole('button', { name: 'Delete integration' }).click()
    await page.getByRole('heading', { name: 'No integrations yet', exact: true }).waitFor()
  })
})
