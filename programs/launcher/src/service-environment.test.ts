import { expect, test } from 'vitest'
import { serviceEnvironment } from './service-environment.ts'

const settings = {
  dataDir: '/home/ann/belfry/.belfry',
  databaseUrl: 'postgresql://embedded',
  roleUrls: {},
  port: 3000,
  operatorPort: 3004,
  secrets: { JWT_SECRET: 'made here', ENCRYPTION_KEYS: 'k1:made here', OPERATOR_PASSWORD: 'made here' },
}

test('adds development defaults to an empty environment', () => {
  expect(serviceEnvironment({}, settings)).toEqual({
    DATABASE_URL: 'postgresql://embedded',
    PORT: '3000',
    METRICS_PORT: '3004',
    PUBLIC_URL: 'http://localhost:3000',
    JWT_SECRET: 'made here',
    ENCRYPTION_KEYS: 'k1:made here',
    OPERATOR_PASSWORD: 'made here',
    SMTP_URL: 'file:///home/ann/belfry/.belfry/mail',
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8,::1/128',
    HOST: '127.0.0.1',
    METRICS_HOST: '127.0.0.1',
    TIER_CHANGES: 'owner',
    LOG_LEVEL: 'info',
    QSTASH_API: 'on',
    FIRST_ACCOUNT: '/home/ann/belfry/.belfry/account.json',
    QSTASH_DEV_PORT: '8080',
  })
})

test('lets owners choose their tier unless any person may register', () => {
  const tierChanges = (env: Record<string, string>) => serviceEnvironment(env, settings).TIER_CHANGES
  expect(tierChanges({ REGISTRATION: 'invite' })).toBe('owner')
  expect(tierChanges({ REGISTRATION: 'open' })).toBe('operator')
  expect(tierChanges({ REGISTRATION: 'open', TIER_CHANGES: 'owner' })).toBe('owner')
})

test('keeps all settings of the user except the server URLs, and drops NODE_ENV', () => {
  const env = { LOG_LEVEL: 'debug', JWT_SECRET: 'mine', SMTP_URL: 'smtp://mail', PORT: '0', NODE_ENV: 'production' }
  const result = serviceEnvironment(env, settings)
  expect(result).toMatchObject({ LOG_LEVEL: 'debug', JWT_SECRET: 'mine', SMTP_URL: 'smtp://mail', PORT: '3000' })
  expect(result).not.toHaveProperty('NODE_ENV')
})

test('gives the services the URLs of their own roles, and not that of the owner', () => {
  const roleUrls = { API_DATABASE_URL: 'postgresql://belfry_api@embedded' }
  const result = serviceEnvironment({}, { ...settings, roleUrls })
  expect(result).toMatchObject(roleUrls)
  expect(result).not.toHaveProperty('DATABASE_URL')
})

test('accepts the public credentials of QStash on loopback only', () => {
  for (const host of ['0.0.0.0', '192.168.0.2', '::']) {
    const result = serviceEnvironment({ HOST: host }, settings)
    expect(result).toMatchObject({ QSTASH_API: 'on' })
    expect(result).not.toHaveProperty('QSTASH_DEV_PORT')
  }
  expect(serviceEnvironment({ HOST: 'localhost', QSTASH_API: 'off' }, settings)).toMatchObject({ QSTASH_API: 'off' })
})

test('has a Redis only when the user sets one', () => {
  expect(serviceEnvironment({ REDIS_URL: '' }, settings)).not.toHaveProperty('REDIS_URL')
  expect(serviceEnvironment({ REDIS_URL: 'redis://mine' }, settings)).toMatchObject({ REDIS_URL: 'redis://mine' })
})
