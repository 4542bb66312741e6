import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { takeFromOutbox } from '@belfry/db/outbox/outbox'
import { createLogger } from '@belfry/runtime'
import { type MailServerOptions, startMailServer } from '@belfry/test-support'
import { expect, it, onTestFinished } from 'vitest'
import { tidyOutbox } from '../../src/outbox/outbox.ts'
import { setup } from './setup-outbox.ts'

const patient = { timeout: 20_000 }

async function mailServer(options: MailServerOptions = {}) {
  const server = await startMailServer(options)
  onTestFinished(() => server.close())
  return server
}

it('delivers a mail with its own Message-ID, text and HTML, and deletes its content', async () => {
  const { open, storeMail, row } = await setup()
  const server = await mailServer()
  const id = await storeMail('ada@example.com')
  expect((await row(id)).content.includes('Join')).toBe(false)
  open(server.url).wake()
  await expect.poll(() => row(id), patient).toMatchObject({ isFinished: true, sent: true, attempts: 1, error: null })
  expect(await row(id)).toMatchObject({ content: null, masterKeyId: null })
  const [mail] = server.mails
  expect(mail).toMatchObject({
    from: 'belfry@example.com',
    to: ['ada@example.com'],
    messageId: `<${id}@example.com>`,
    subject: expect.stringContaining('UTF-8'),
  })
  expect(mail?.text).toMatch(/text\/plain.*text\/html/s)
  expect(mail?.text.match(/invitations\/t{60}\?to=ada@example.com/g)).toHaveLength(2 + 1) // text, button, its address
})

it('signs in when the server requires it', async () => {
  const { open, storeMail, row } = await setup()
  const server = await mailServer({ account: { user: 'belfry', password: 'pa%3Ass' } })
  const id = await storeMail('ada@example.com')
  open(server.url.replace('pa%3Ass', 'pa%253Ass')).wake()
  await expect.poll(() => row(id), patient).toMatchObject({ sent: true })
})

it('waits until a wrong login is corrected', async () => {
  const { open, storeMail, row, makeDue } = await setup()
  const server = await mailServer({ account: { user: 'belfry', password: 'right' } })
  const id = await storeMail('ada@example.com')
  const misinformed = open(server.url.replace('right', 'wrong'))
  misinformed.wake()
  await expect.poll(() => row(id), patient).toMatchObject({ attempts: 1, isFinished: false, error: expect.any(String) })
  await misinformed.finish(5_000)
  await makeDue()
  open(server.url).wake()
  await expect.poll(() => row(id), patient).toMatchObject({ sent: true, attempts: 2 })
})

it('loses no mail while the server is down', async () => {
  const { open, storeMail, row, makeDue } = await setup()
  const down = await mailServer()
  await down.close()
  const ids = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(name => storeMail(`${name}@example.com`)))
  const outbox = open(down.url)
  outbox.wake()
  for (const id of ids) {
    await expect.poll(() => row(id), patient).toMatchObject({ error: 'The mail server did not take the mail.' })
  }
  expect(down.mails).toEqual([])
  const up = await mailServer({ port: down.port })
  await makeDue()
  outbox.wake()
  await expect.poll(() => up.mails.length, patient).toBe(ids.length)
  for (const id of ids) await expect.poll(() => row(id)).toMatchObject({ sent: true, attempts: 2 })
})

it.each([
  [
    550,
    { isFinished: true, sent: false, attempts: 1, error: 'The mail server refused the mail (550).', content: null },
  ],
  [451, { isFinished: false, attempts: 1, error: 'The mail server did not take the mail.' }],
])('an address refused with %i: %j', async (status, expected) => {
  const { open, storeMail, row } = await setup()
  const server = await mailServer({ refuse: address => (address.startsWith('bad') ? status : null) })
  const [bad, good] = [await storeMail('bad@example.com'), await storeMail('good@example.com')]
  open(server.url).wake()
  await expect.poll(() => row(bad), patient).toMatchObject(expected)
  await expect.poll(() => row(good), patient).toMatchObject({ sent: true })
})

it('sends a mail again, with the same Message-ID, when a dispatcher died that may have sent it', async () => {
  const { pool, open, storeMail, row, makeDue } = await setup()
  const server = await mailServer()
  const id = await storeMail('ada@example.com')
  expect(await takeFromOutbox(pool, 'mail', 60_000)).toMatchObject({ id, attempt: 1 })
  const outbox = open(server.url)
  outbox.wake()
  const other = await storeMail('eve@example.com')
  outbox.wake()
  await expect.poll(() => row(other), patient).toMatchObject({ sent: true })
  expect(await row(id)).toMatchObject({ attempts: 1, isFinished: false }) // its lease is not over
  await makeDue()
  outbox.wake()
  await expect.poll(() => row(id), patient).toMatchObject({ sent: true, attempts: 2 })
  expect(server.mails.map(({ messageId }) => messageId)).toContain(`<${id}@example.com>`)
})

it('sends each mail once, however many dispatchers there are', async () => {
  const { open, storeMail, pool } = await setup()
  const server = await mailServer()
  const outboxes = [open(server.url), open(server.url), open(server.url)]
  const count = 60
  await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      await storeMail(`user${i}@example.com`)
      for (const outbox of outboxes) outbox.wake()
    }),
  )
  const unsent = async () => (await pool.query('SELECT FROM outbox WHERE NOT sent')).rowCount
  await expect.poll(unsent, patient).toBe(0)
  expect(new Set(server.mails.map(({ to }) => to[0])).size).toBe(count)
  expect(server.mails).toHaveLength(count)
})

it('writes mails into a folder, as complete files for their owner only', async () => {
  const { open, storeMail, row } = await setup()
  const folder = await mkdtemp(join(tmpdir(), 'belfry-mail-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const id = await storeMail('ada@example.com')
  open(pathToFileURL(join(folder, 'mail')).href).wake()
  await expect.poll(() => row(id), patient).toMatchObject({ sent: true })
  expect(await readdir(join(folder, 'mail'))).toEqual([`${id}.eml`])
  expect(await readFile(join(folder, 'mail', `${id}.eml`), 'utf8')).toContain('To: ada@example.com')
})

it('keeps mails without a server, until they expire', async () => {
  const { pool, open, storeMail, row } = await setup()
  const [lasting, brief] = [await storeMail('ada@example.com'), await storeMail('eve@example.com', 1)]
  const outbox = open(null)
  outbox.wake()
  await outbox.finish(5_000)
  const log = createLogger('dispatcher', 'silent')
  const tidied = async () => {
    await tidyOutbox({ pool, log })
    return row(brief)
  }
  await expect.poll(tidied, patient).toMatchObject({
    ...{ isFinished: true, sent: false, attempts: 0, content: null },
    error: 'Nothing was there to send it with.',
  })
  expect(await row(lasting)).toMatchObject({ isFinished: false, attempts: 0, error: null })
})

it('cannot read the content of another message', async () => {
  const { pool, masterKeys, storeMail } = await setup()
  const [one, other] = [await storeMail('ada@example.com'), await storeMail('eve@example.com')]
  await pool.query(
    `UPDATE outbox o SET content = i.content, wrapped_key = i.wrapped_key FROM outbox i WHERE o.id = $1 AND i.id = $2`,
    [one, other],
  )
  const taken = [await takeFromOutbox(pool, 'mail', 60_000), await takeFromOutbox(pool, 'mail', 60_000)]
  const swapped = taken.find(message => message?.id === one)
  expect(() => swapped?.open(masterKeys)).toThrow()
  expect(taken.find(message => message?.id === other)?.open(masterKeys)).toContain('eve@example.com')
})
