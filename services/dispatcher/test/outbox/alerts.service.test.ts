import { randomUUID } from 'node:crypto'
import { insertIntegration } from '@belfry/db/integrations/integrations'
import { blockAddress, hashAddress, unsubscribeAddress } from '@belfry/db/outbox/mail-blocks'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { inWorkspace } from '@belfry/db/secrets/in-workspace'
import type { AlertChannel } from '@belfry/domain/alerts'
import { toId } from '@belfry/domain/id'
import type { Message } from '@belfry/messages'
import { startMailServer, startReceiver } from '@belfry/test-support'
import { readUnsubscribeToken } from '@belfry/vault'
import { Webhook } from 'standardwebhooks'
import { expect, it, onTestFinished, vi } from 'vitest'
import { setup, signingSecret } from './setup-outbox.ts'

const patient = { timeout: 20_000 }

async function setupAlerts() {
  const outbox = await setup()
  const { pool, masterKeys, store } = outbox
  const [organizationId, workspaceId] = [randomUUID(), randomUUID()]
  const insert = `INSERT INTO organizations (id, name, slug, tier) VALUES ($1, 'Acme', gen_random_uuid(), 'free')`
  await pool.query(insert, [organizationId])
  await pool.query(`INSERT INTO workspaces (id, organization_id, name) VALUES ($1, $2, 'Main')`, [
    workspaceId,
    organizationId,
  ])
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  const integrate = async (channel: AlertChannel, target: string) => {
    const added = { name: 'On call', channel, events: ['task.dead' as const], target, shownTarget: target }
    const row = await inWorkspace(pool, workspaceId, tx => insertIntegration(tx, masterKeys, workspaceId, added))
    return row?.id ?? ''
  }
  const alert = {
    event: 'task.dead' as const,
    at: '2026-11-21T02:20:00.000Z',
    workspace: { id: toId('ws', workspaceId), name: 'Main' },
    count: 1,
    items: [{ id: 'task_1', name: 'A task' }],
  }
  const notify = (integrationId: string, kind: 'mail' | 'webhook' = 'webhook') =>
    store(kind, { type: 'alert', workspaceId, integrationId, alert } satisfies Message)
  return { ...outbox, workspaceId, receiver, integrate, notify }
}

it('signs messages to a webhook as Standard Webhooks requires, with one id for all attempts', async () => {
  const { open, integrate, notify, receiver, row, makeDue } = await setupAlerts()
  const id = await notify(await integrate('webhook', receiver.url('/failing')))
  receiver.answer('/failing', { status: 500 })
  const outbox = open(null)
  outbox.wake()
  await expect.poll(() => row(id), patient).toMatchObject({ attempts: 1, error: 'The receiver answered 500.' })
  await makeDue()
  outbox.wake()
  await expect.poll(() => receiver.requests.length, patient).toBe(2)
  for (const { rawHeaders, body } of receiver.requests) {
    const headers = headersOf(rawHeaders)
    const verified = new Webhook(signingSecret).verify(body.toString(), headers)
    expect(verified).toMatchObject({ type: 'task.dead', data: { count: 1, items: [{ name: 'A task' }] } })
    expect(headers['webhook-id']).toBe(toId('msg', id))
  }
})

it('signs with the time of PostgreSQL, also where the clock of the dispatcher is an hour behind', async () => {
  const { open, integrate, notify, receiver, row } = await setupAlerts()
  const id = await notify(await integrate('webhook', receiver.url('/')))
  onTestFinished(() => void vi.useRealTimers())
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 })
  open(null).wake()
  await expect.poll(() => row(id), patient).toMatchObject({ sent: true })
  vi.useRealTimers()
  const [{ rawHeaders, body } = { rawHeaders: [], body: '' }] = receiver.requests
  expect(new Webhook(signingSecret).verify(body.toString(), headersOf(rawHeaders))).toMatchObject({ type: 'task.dead' })
})

it.each(['slack', 'discord'] as const)('notifies %s', async channel => {
  const { open, integrate, notify, receiver, row } = await setupAlerts()
  const id = await notify(await integrate(channel, receiver.url('/')))
  open(null).wake()
  await expect.poll(() => row(id), patient).toMatchObject({ sent: true })
  const body = JSON.parse(receiver.requests[0]?.body.toString() ?? '')
  expect(body[channel === 'slack' ? 'text' : 'content']).toBe(
    `1 task is dead in the workspace "Main".\n• A task (${channel === 'slack' ? 'task_1' : 'task\\_1'})`,
  )
  expect(headersOf(receiver.requests[0]?.rawHeaders ?? [])).not.toHaveProperty('webhook-signature')
})

it('notifies an email address', async () => {
  const { open, integrate, notify, row } = await setupAlerts()
  const server = await startMailServer()
  onTestFinished(() => server.close())
  const id = await notify(await integrate('email', 'ops@example.com'), 'mail')
  open(server.url).wake()
  await expect.poll(() => row(id), patient).toMatchObject({ sent: true })
  expect(server.mails).toMatchObject([{ to: ['ops@example.com'] }])
})

it('adds a link by which the recipient of a mail ends the alerts, for mail programs too', async () => {
  const { open, integrate, notify, masterKeys } = await setupAlerts()
  const server = await startMailServer()
  onTestFinished(() => server.close())
  await notify(await integrate('email', 'Ops@example.com'), 'mail')
  open(server.url).wake()
  await expect.poll(() => server.mails.length, patient).toBe(1)
  const text = server.mails[0]?.text.replace(/=\r?\n/g, '').replace(/=3D/g, '=') ?? ''
  const [header = '', fields = ''] = [text.split(/\r?\n\r?\n/)[0], text].map(part => part?.replace(/\r?\n\s+/g, ' '))
  expect(header).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click')
  const [, token = ''] =
    /List-Unsubscribe: <http:\/\/belfry\.test\/api\/v1\/integrations\/unsubscribe\?token=([\w-]+)>/.exec(header) ?? []
  expect(readUnsubscribeToken(masterKeys, token)).toEqual(hashAddress('ops@example.com'))
  expect(fields).toContain(`http://belfry.test/unsubscribe#${token}`)
})

it('mails nothing to an address whose owner has unsubscribed, or that an operator has blocked', async () => {
  const { open, pool, integrate, notify, row } = await setupAlerts()
  const server = await startMailServer()
  onTestFinished(() => server.close())
  const unsubscribed = await notify(await integrate('email', 'one@example.com'), 'mail')
  await unsubscribeAddress(pool, hashAddress('ONE@example.com'))
  const again = await notify(await integrate('email', 'one@example.com'), 'mail') // confirmed at the same moment
  const blocked = await notify(await integrate('email', 'Two@example.com'), 'mail')
  await inTransaction(pool, tx => blockAddress(tx, 'two@example.com'))
  open(server.url).wake()
  const refused = { isFinished: true, sent: false, attempts: 1 }
  await expect.poll(() => row(blocked), patient).toMatchObject({ ...refused, error: expect.stringMatching(/blocked/) })
  await expect.poll(() => row(again), patient).toMatchObject({ ...refused, error: 'The recipient has unsubscribed.' })
  await expect.poll(() => row(unsubscribed), patient).toMatchObject({ ...refused, error: expect.any(String) })
  expect(server.mails).toEqual([])
})

it('mails one address at most 20 alerts at once, from all workspaces together, and keeps the others', async () => {
  const { open, integrate, notify, row } = await setupAlerts()
  const server = await startMailServer()
  onTestFinished(() => server.close())
  const one = await integrate('email', 'one@example.com')
  const same = await integrate('email', 'ONE@example.com')
  for (let i = 0; i < 20; i++) await notify(i % 2 === 0 ? one : same, 'mail')
  const outbox = open(server.url)
  outbox.wake()
  await expect.poll(() => server.mails.length, { timeout: 20_000 }).toBe(20)
  const waiting = await notify(one, 'mail')
  const other = await notify(await integrate('email', 'other@example.com'), 'mail')
  outbox.wake()
  await expect.poll(() => row(other), patient).toMatchObject({ sent: true })
  await expect
    .poll(() => row(waiting), patient)
    .toMatchObject({ isFinished: false, error: 'Too many alerts are mailed. This one waits.' })
  expect(server.mails).toHaveLength(21)
}, 40_000)

it('gives up at a private address with the same text for open and closed ports, and calls nothing', async () => {
  const { open, integrate, notify, receiver, row } = await setupAlerts()
  const urls = [
    `http://10.0.0.1/`,
    `http://[::ffff:169.254.169.254]/`,
    `http://[::1]:${receiver.port}/`,
    'http://[::1]:1/',
  ]
  const ids = await Promise.all(urls.map(async url => notify(await integrate('webhook', url))))
  open(null).wake()
  for (const id of ids) {
    await expect
      .poll(() => row(id), patient)
      .toMatchObject({
        ...{ isFinished: true, sent: false, attempts: 1 },
        error: 'The target is at an address that this installation does not call.',
      })
  }
  expect(receiver.connections()).toBe(0)
})

it('retries a failed message at its time without a wake-up', patient, async () => {
  const { open, integrate, notify, receiver, row } = await setupAlerts()
  receiver.answer('/failing', [{ status: 500 }, { status: 200 }])
  const id = await notify(await integrate('webhook', receiver.url('/failing')))
  open(null).wake()
  await expect.poll(() => row(id), patient).toMatchObject({ attempts: 2, sent: true })
})

it('does not notify a deleted integration, nor one of another workspace', async () => {
  const { pool, open, integrate, notify, receiver, row, store, workspaceId } = await setupAlerts()
  const integrationId = await integrate('webhook', receiver.url('/'))
  const alert = { event: 'test' as const, at: '', workspace: { id: '', name: '' }, count: 0, items: [] }
  const foreign = await store('webhook', { type: 'alert', workspaceId: randomUUID(), integrationId, alert })
  const deleted = await notify(integrationId)
  await pool.query('UPDATE workspaces SET deleted_at = now() WHERE id = $1', [workspaceId])
  open(null).wake()
  for (const id of [foreign, deleted]) {
    await expect
      .poll(() => row(id), patient)
      .toMatchObject({ isFinished: true, error: 'The integration has been deleted, or its address is not confirmed.' })
  }
  expect(receiver.requests).toEqual([])
})

it('delays no mail while webhooks hang', async () => {
  const { open, integrate, notify, storeMail, receiver, row } = await setupAlerts()
  const server = await startMailServer()
  onTestFinished(() => server.close())
  receiver.answer('/hanging', { does: 'hang' })
  const hanging = await integrate('webhook', receiver.url('/hanging'))
  for (let i = 0; i < 40; i++) await notify(hanging)
  const outbox = open(server.url)
  outbox.wake()
  await expect.poll(() => receiver.connections(), patient).toBe(32)
  const id = await storeMail('ada@example.com')
  outbox.wake()
  await expect.poll(() => row(id), patient).toMatchObject({ sent: true })
})

it('delays no alert of another organization while the webhooks of six hang', async () => {
  const { pool, open, integrate, notify, receiver, row } = await setupAlerts()
  receiver.answer('/hanging', { does: 'hang' })
  const integrationId = await integrate('webhook', receiver.url('/hanging'))
  const storeOrganization = () =>
    pool.query('UPDATE outbox SET organization_id = $1 WHERE organization_id IS NULL', [randomUUID()])
  const hanging: string[] = []
  for (let i = 0; i < 6; i++) {
    hanging.push(...(await Promise.all(Array.from({ length: 9 }, () => notify(integrationId)))))
    await storeOrganization()
  }
  const outbox = open(null)
  outbox.wake()
  await expect.poll(() => receiver.connections(), patient).toBe(12)
  const id = await notify(await integrate('webhook', receiver.url('/')))
  await storeOrganization()
  outbox.wake()
  await expect.poll(() => row(id), patient).toMatchObject({ sent: true })
  expect(receiver.requests.filter(({ path }) => path === '/hanging')).toHaveLength(12)
  for (const one of hanging) expect(await row(one)).toMatchObject({ error: null }) // it was sent before any of them ended
})

function headersOf(raw: readonly string[]): Record<string, string> {
  const pairs = raw.flatMap((name, index) => (index % 2 === 0 ? [[name.toLowerCase(), raw[index + 1] ?? '']] : []))
  return Object.fromEntries(pairs)
}
