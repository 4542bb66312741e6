import { createCertificate } from '@belfry/test-support'
import { expect, it, vi } from 'vitest'
import { CertificateError, createTlsSenders } from '../../src/egress/tls-senders.ts'
import { anOAuthConnection } from './an-oauth-connection.ts'

const { cert, key } = createCertificate('127.0.0.1')
const withCertificate = () =>
  anOAuthConnection({ settings: { clientCertificate: cert }, secrets: { clientSecret: 'secret', clientKey: key } })
const aSender = () => ({ start: vi.fn(), send: vi.fn(), close: vi.fn(async () => {}) })

it('each version of a connection with certificates has a sender, and 200 stay in memory', async () => {
  const open = vi.fn(aSender)
  const senders = createTlsSenders(open)
  expect(senders.of(anOAuthConnection())).toBeNull()
  const connection = withCertificate()
  const sender = senders.of(connection)
  expect(senders.of(connection)).toBe(sender)
  const changed = senders.of({ ...connection, version: 2 })
  expect(changed).not.toBe(sender)
  for (let i = 0; i < 198; i++) senders.of(withCertificate())
  expect([senders.of(connection), senders.of({ ...connection, version: 2 })]).toEqual([sender, changed])
  expect(open).toHaveBeenCalledTimes(200)
  senders.of(withCertificate())
  senders.of({ ...connection, version: 3 })
  await senders.close()
  expect(open.mock.results.filter(({ value }) => value.close.mock.calls.length === 1)).toHaveLength(200)
})

it('a key that OpenSSL does not accept is an error without the key', () => {
  const other = createCertificate('127.0.0.1').key
  const connection = { ...withCertificate(), secrets: { clientKey: other } }
  expect(() => createTlsSenders(aSender).of(connection)).toThrow(CertificateError)
  expect(() => createTlsSenders(aSender).of(connection)).toThrow(
    /^The certificates of the connection cannot be used\.$/,
  )
})
