import { describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

describe('rare settings in the dashboard', { timeout: 240_000 }, () => {
  const stage = useStage()

  it('creates a federated credential, shows a key of its jobs, and deletes both', async () => {
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/settings/federated-credentials`)
    await page.getByRole('heading', { name: 'No federated credentials yet', exact: true }).waitFor()
    await page.getByRole('button', { name: 'New credential' }).first().click()
    await page.getByRole('button', { name: 'Create credential' }).click()
    await page.getByText('Enter a name.').waitFor()
    await page.getByRole('textbox', { name: 'Name' }).fill('Deployments')
    await page.getByRole('textbox', { name: 'Required claims' }).fill('ref: refs/heads/main')
    await page.getByRole('button', { name: 'Create credential' }).click()
    await page.getByText(/name the owner of the jobs in one of sub, repository/).waitFor()
    await expectAccessible(page, ':slug/w/:ws/settings/federated-credentials')
    await takeScreenshots(page, 'settings-federated-credentials-new')
    await page.getByRole('textbox', { name: 'Required claims' }).fill('repository: acme/app\nref: refs/heads/main')
    await page.getByRole('button', { name: 'Create credential' }).click()
    await page.getByText('repository: acme/app').waitFor()
    await page.getByText('for 15 min').waitFor()
    await expectAccessible(page, ':slug/w/:ws/settings/federated-credentials')
    await takeScreenshots(page, 'settings-federated-credentials')
    await stage.belfry.execute(
      `INSERT INTO api_keys (id, workspace_id, name, prefix, hash, created_by, federated_credential_id, subject, expires_at)
       SELECT gen_random_uuid(), workspace_id, name, 'bf_ci', uuid_send(id), created_by, id, 'repo:acme/app', now() + interval '9 minutes'
       FROM federated_credentials`,
    )
    await page.goto(`${await stage.home()}/settings/api-keys`)
    await page.getByText('repo:acme/app').waitFor()
    expect(await page.getByRole('button', { name: 'Roll Deployments' }).count()).toBe(0)
    await takeScreenshots(page, 'settings-api-keys-of-jobs')
    await page.goto(`${await stage.home()}/settings/federated-credentials`)
    await page.getByRole('button', { name: 'Delete Deployments' }).click()
    await page.getByRole('button', { name: 'Delete credential' }).click()
    await page.getByRole('heading', { name: 'No federated credentials yet', exact: true }).waitFor()
    expect(
      await stage.belfry.execute(
        'SELECT FROM api_keys WHERE federated_credential_id IS NOT NULL AND revoked_at IS NULL',
      ),
    ).toEqual([])
  })

  it('streams the audit log to a webhook', async () => {
    const page = await stage.ownerPage({ expected: /status of 400/ })
    await page.goto(`/${(await stage.home()).split('/')[1]}/settings/audit-log`)
    await page.getByRole('button', { name: 'Stream' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('URL').fill('http://logs.example.com/')
    await dialog.getByRole('button', { name: 'Start stream' }).click()
    await dialog.getByText('must start with https://').waitFor()
    await dialog.getByLabel('URL').fill(stage.receiver.url('/audit'))
    await dialog.getByRole('button', { name: 'Start stream' }).click()
    await dialog.getByText('Receiver', { exact: true }).waitFor()
    const received = () => stage.receiver.requestsTo('/audit').map(({ body }) => String(body))
    await expect
      .poll(received, { timeout: 20_000 })
      .toEqual([expect.stringContaining('"action":"audit_stream.created"')])
    await dialog.getByText('0 entries').waitFor()
    await expectAccessible(page, ':slug/settings/audit-log')
    await takeScreenshots(page, 'settings-audit-stream')
    await dialog.getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByRole('dialog').last().getByRole('button', { name: 'Rotate', exact: true }).click()
    await dialog.getByText('Previous secret').waitFor()
    await dialog.getByRole('button', { name: 'Stop stream' }).click()
    await page.getByRole('dialog').last().getByRole('button', { name: 'Stop stream' }).click()
    await dialog.getByRole('button', { name: 'Start stream' }).waitFor()
  })
})
