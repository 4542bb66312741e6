import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { undocumented } from '@belfry/test-support'
import { expect, it } from 'vitest'
import { createIdentity } from './attempt/build-request.ts'
import { loadConfig, variables } from './config.ts'

const example = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8')

it('has a line in .env.example for each of its variables', () => {
  for (const name of Object.keys(variables.shape)) expect(example).toMatch(new RegExp(`^${name}=`, 'm'))
})

it('names everything that is missing or wrong in one message', () => {
  expect(() => loadConfig({ LOG_LEVEL: 'loud' })).toThrow(/DATABASE_URL.*LOG_LEVEL/s)
})

it('refuses an address range that is not one', () => {
  const env = { DATABASE_URL: 'postgresql://db/belfry', ALLOWED_PRIVATE_TARGETS: '10.0.0.0/8,nonsense' }
  expect(() => loadConfig(env)).toThrow(/ALLOWED_PRIVATE_TARGETS.*nonsense/)
})

const complete = { DATABASE_URL: 'postgresql://db/belfry', ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}` }

it('requires master keys of 32 bytes', () => {
  expect(() => loadConfig({ ...complete, ENCRYPTION_KEYS: '' })).toThrow(/ENCRYPTION_KEYS: is required/)
  expect(() => loadConfig({ ...complete, ENCRYPTION_KEYS: 'k2:AAAA' })).toThrow(/ENCRYPTION_KEYS: .*32 bytes/)
})

it('wants a sender for a mail server, and none for a folder', () => {
  const smtp = { ...complete, SMTP_URL: 'smtp://mail' }
  expect(() => loadConfig(smtp)).toThrow(/MAIL_FROM: is required with SMTP_URL/)
  expect(loadConfig({ ...smtp, MAIL_FROM: 'Belfry <belfry@example.com>' }).mail?.from).toContain('belfry@example.com')
  expect(loadConfig({ ...complete, SMTP_URL: 'file:///var/mail' }).mail?.url).toBe('file:///var/mail')
  expect(loadConfig(complete).mail).toBeNull()
})

it('adds a contact to the User-Agent, which must be one word', () => {
  const env = { ...complete, ABUSE_CONTACT: 'https://example.com/abuse' }
  const { userAgent } = createIdentity(loadConfig(env).abuseContact, loadConfig(env).masterKeys)
  expect(userAgent).toMatch(/^Belfry\/\S+ \(\+https:\/\/example\.com\/abuse\)$/)
  for (const wrong of ['a b', 'a)', 'a\r\nX: y'])
    expect(() => loadConfig({ ...complete, ABUSE_CONTACT: wrong })).toThrow(/ABUSE_CONTACT/)
})

it.each(['no-address', 'a@b@c', 'A <a@b>, B <b@c>', 'A <a@b>\r\nBcc: x@y'])('refuses the sender %j', from => {
  expect(() => loadConfig({ ...complete, SMTP_URL: 'smtp://mail', MAIL_FROM: from })).toThrow(/MAIL_FROM/)
})

it('waits for calls for 25 seconds, or for longer than any timeout', () => {
  const drainMsOf = (DRAIN_SECONDS: string) => loadConfig({ ...complete, DRAIN_SECONDS }).drainMs
  expect([drainMsOf(''), drainMsOf('930')]).toEqual([25_000, 930_000])
  for (const wrong of ['0', '931', '2.5']) expect(() => drainMsOf(wrong)).toThrow(/DRAIN_SECONDS/)
})

it('is documented in docs/configuration.md, with required values and defaults', () => {
  const names = Object.keys(variables.shape)
  expect(undocumented({ process: 'dispatcher', names, load: loadConfig, env: complete })).toEqual([])
})

it('lets no target be a host of the database, of which there may be several', () => {
  const { ownListeners } = loadConfig({ ...complete, DATABASE_URL: 'postgresql://b:secret@one,two:5433/belfry' })
  expect(ownListeners).toEqual(
    expect.arrayContaining([
      { host: 'one', port: 5432 },
      { host: 'two', port: 5433 },
    ]),
  )
})

it('lets no target be a port of the API, the replica or the server of the log', () => {
  const storage = 's3://logs/belfry?endpoint=http://minio.internal:9000'
  const replica = 'postgresql://b:secret@replica/belfry'
  const env = { PORT: '3000', QSTASH_DEV_PORT: '8080', DATABASE_READ_URL: replica, LOG_STORAGE_URL: storage }
  expect(loadConfig({ ...complete, ...env }).ownListeners).toEqual(
    expect.arrayContaining([
      { host: '127.0.0.1', port: 3000 },
      { host: '127.0.0.1', port: 8080 },
      { host: 'replica', port: 5432 },
      { host: 'minio.internal', port: 9000, isShared: true, isForeign: true },
    ]),
  )
})

it('lets no target be a node of the cluster that REDIS_URL names', () => {
  const { ownListeners } = loadConfig({ ...complete, REDIS_URL: 'redis+cluster://:secret@one:7000,two:7001' })
  expect(ownListeners).toEqual(
    expect.arrayContaining([
      { host: 'one', port: 7000 },
      { host: 'two', port: 7001 },
    ]),
  )
})

it('reads the rules of an egress proxy', () => {
  const env = { ...complete, EGRESS_PROXY_URL: 'http://proxy:4750' }
  expect(loadConfig(env).egressProxy).toMatchObject({ resolves: false, exceptions: [] })
  const exceptions = ' API.internal:8443, *.example.com,10.0.0.1'
  expect(loadConfig({ ...env, EGRESS_PROXY_RESOLVES: 'on', EGRESS_NO_PROXY: exceptions }).egressProxy).toMatchObject({
    ...{ resolves: true, exceptions: ['api.internal:8443', '*.example.com', '10.0.0.1'] },
  })
  expect(() => loadConfig({ ...env, EGRESS_NO_PROXY: '10.0.0.0/8' })).toThrow(/EGRESS_NO_PROXY.*10\.0\.0\.0\/8/)
})
