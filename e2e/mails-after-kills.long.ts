import { freePort } from '@belfry/embedded'
import { type MailServer, queueBackends, startMailServer } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { callApi } from './api-calls.ts'
import { type Belfry, startBelfry } from './belfry.ts'

// Both installations wait at the same time; the tests of each run in turn.
describe.concurrent.each(queueBackends())('mails, with the queue on %s', { timeout: 120_000 }, backend => {
  let belfry: Belfry
  let mailPort: number
  const servers: MailServer[] = []

  beforeEach(async () => {
    mailPort = await freePort()
    const env = { SMTP_URL: `smtp://127.0.0.1:${mailPort}`, MAIL_FROM: 'Belfry <belfry@example.com>' }
    belfry = await startBelfry(backend, { env })
  })
  afterEach(async () => {
    await belfry?.close()
    await Promise.all(servers.splice(0).map(server => server.close()))
  })

  const startMail = async (options: Parameters<typeof startMailServer>[0] = {}) => {
    const server = await startMailServer({ port: mailPort, ...options })
    servers.push(server)
    return server
  }
  const invite = (email: string) => {
    const path = `/api/v1/organizations/${belfry.caller.organizationId}/invitations`
    return callApi(belfry.url, { token: belfry.caller.token ?? '' }, 'POST', path, { email, role: 'member' })
  }
  const receive = (server: MailServer, count: number) =>
    waitFor(
      async () => server.mails,
      mails => mails.length >= count,
      60_000,
    )
  const makeDue = () => belfry.execute(`UPDATE outbox SET due_at = now() - interval '1 ms' WHERE finished_at IS NULL`)

  it.sequential('a mail server that is down, killed dispatchers and a lost queue lose no mail', async () => {
    const emails = Array.from({ length: 10 }, (_, i) => `user${i}@example.com`)
    for (const email of emails.slice(0, 5)) expect((await invite(email)).status).toBe(201)
    const dispatcher = belfry.services.find(({ name }) => name === 'dispatcher')
    await waitFor(
      () => belfry.execute('SELECT FROM outbox WHERE last_error IS NOT NULL'),
      rows => rows.length === 5,
    )
    await dispatcher?.stop('SIGKILL')
    await belfry.stopRedis()
    for (const email of emails.slice(5)) expect((await invite(email)).status).toBe(201)
    const server = await startMail()
    await belfry.start('dispatcher')
    await makeDue()
    const mails = await receive(server, emails.length)
    expect(mails.map(({ to }) => to[0]).sort()).toEqual(emails)
    await waitFor(
      () => belfry.execute('SELECT FROM outbox WHERE NOT sent'),
      rows => rows.length === 0,
    )
  })

  it.sequential('a dispatcher that is killed before it has recorded a mail sends it again with the same id', async () => {
    const server = await startMail({ beforeAnswer: () => new Promise(() => {}) })
    await invite('ada@example.com')
    await receive(server, 1)
    await belfry.services.find(({ name }) => name === 'dispatcher')?.stop('SIGKILL')
    await server.close()
    const next = await startMail()
    await makeDue() // instead of waiting some minutes for the end of the lease
    await belfry.start('dispatcher')
    const [again] = await receive(next, 1)
    expect(again?.messageId).toMatch(/^<[\w-]+@example\.com>$/)
    expect(again?.messageId).toBe(server.mails[0]?.messageId)
  })
})
