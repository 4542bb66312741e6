import { randomUUID } from 'node:crypto'
import {
  deleteAuditStream,
  putAuditStream,
  readAuditStream,
  rotateAuditStreamSecret,
} from '@belfry/db/audit-streams/audit-streams'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { toId } from '@belfry/domain/id'
import { startReceiver } from '@belfry/test-support'
import { Webhook } from 'standardwebhooks'
import { expect, it, onTestFinished } from 'vitest'
import { setup } from './setup-outbox.ts'

const patient = { timeout: 20_000 }
const lines = '{"id":"aud_1"}\n{"id":"aud_2"}\n'

async function setupStream() {
  const outbox = await setup()
  const { pool, masterKeys, store } = outbox
  const organizationId = randomUUID()
  const insert = `INSERT INTO organizations (id, name, slug, tier) VALUES ($1, 'Acme', gen_random_uuid(), 'free')`
  await pool.query(insert, [organizationId])
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  return {
    ...outbox,
    receiver,
    organizationId,
    put: (url: string) =>
      inTransaction(pool, tx =>
        putAuditStream(tx, masterKeys, organizationId, { url, shownTarget: new URL(url).host }),
      ),
    rotate: () => inTransaction(pool, tx => rotateAuditStreamSecret(tx, masterKeys, organizationId)),
    secrets: async () => {
      const stream = await readAuditStream(pool, masterKeys, organizationId)
      return (stream?.secrets ?? []).map(({ value }) => value)
    },
    end: () => inTransaction(pool, tx => deleteAuditStream(tx, organizationId)),
    async send() {
      const id = await store('webhook', { type: 'audit_log', organizationId, lines })
      await pool.query('UPDATE audit_streams SET message_id = $1 WHERE organization_id = $2', [id, organizationId])
      return id
    },
  }
}

function headersOf(rawHeaders: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    rawHeaders.flatMap((name, i) => (i % 2 ? [] : [[name.toLowerCase(), rawHeaders[i + 1] ?? '']])),
  )
}

it('sends entries as JSON lines, signed with the secrets of the stream, with one id for all attempts', async () => {
  const { open, put, rotate, secrets, send, receiver, row, makeDue } = await setupStream()
  await put(receiver.url('/audit'))
  receiver.answer('/audit', { status: 410 }) // final for other messages
  const id = await send()
  const outbox = open(null)
  outbox.wake()
  await expect.poll(() => row(id), patient).toMatchObject({ attempts: 1, isFinished: false, error: expect.any(String) })
  const [first = ''] = await secrets()
  await rotate()
  const [second = '', ...previous] = await secrets()
  expect(previous).toEqual([first])
  receiver.answer('/audit', { status: 204 })
  await makeDue()
  outbox.wake()
  await expect.poll(() => row(id), patient).toMatchObject({ attempts: 2, sent: true, content: null })
  const requests = receiver.requests.map(({ rawHeaders, body }) => ({
    headers: headersOf(rawHeaders),
    body: `${body}`,
  }))
  for (const { headers, body } of requests) {
    expect(body).toBe(lines)
    expect(headers).toMatchObject({ 'content-type': 'application/x-ndjson', 'webhook-id': toId('msg', id) })
  }
  const signatures = requests.map(({ headers }) => headers['webhook-signature']?.split(' ').length)
  expect(signatures).toEqual([1, 2])
  const isSignedBy = (secret: string, at: number) => {
    const { body = '', headers = {} } = requests[at] ?? {}
    try {
      new Webhook(secret).verify(body, headers, { jsonParse: false })
      return true
    } catch {
      return false
    }
  }
  expect([isSignedBy(first, 0), isSignedBy(second, 0)]).toEqual([true, false])
  expect([isSignedBy(first, 1), isSignedBy(second, 1)]).toEqual([true, true])
})

it('sends waiting entries to the URL that the stream has now', async () => {
  const { open, put, send, receiver, row, makeDue } = await setupStream()
  await put('http://127.0.0.2:1/audit')
  const id = await send()
  const outbox = open(null)
  outbox.wake()
  await expect.poll(() => row(id), patient).toMatchObject({ attempts: 1, isFinished: false, error: expect.any(String) })
  await put(receiver.url('/new'))
  await makeDue()
  outbox.wake()
  await expect.poll(() => row(id), patient).toMatchObject({ sent: true })
  expect(receiver.requests).toMatchObject([{ path: '/new' }])
})

it('gives up entries whose stream has ended', async () => {
  const { open, send, row } = await setupStream()
  const id = await send()
  open(null).wake()
  const error = 'The audit stream has been removed.'
  await expect.poll(() => row(id), patient).toMatchObject({ attempts: 1, isFinished: true, sent: false, error })
})

it('sends no entries of a stream that has ended to the next stream', async () => {
  const { open, put, end, send, receiver, row, makeDue } = await setupStream()
  await put('http://127.0.0.2:1/audit')
  const id = await send()
  const outbox = open(null)
  outbox.wake()
  await expect.poll(() => row(id), patient).toMatchObject({ attempts: 1, isFinished: false })
  await expect.poll(() => row(id), patient).toMatchObject({ error: expect.any(String) })
  await end()
  await put(receiver.url('/other'))
  await makeDue()
  outbox.wake()
  const error = 'The audit stream has been removed.'
  await expect.poll(() => row(id), patient).toMatchObject({ attempts: 2, isFinished: true, sent: false, error })
  expect(receiver.requests).toEqual([])
})

it('calls no private address that the installation has not opened', async () => {
  const { open, put, send, row } = await setupStream()
  await put('https://10.0.0.1/audit')
  const id = await send()
  open(null).wake()
  await expect
    .poll(() => row(id), patient)
    .toMatchObject({ attempts: 1, isFinished: false, error: expect.stringContaining('address') })
})
