import { expect, test } from 'vitest'
import { serviceEnvironment } from './service-environment.ts'

const settings = {
  dataDir: '/home/ann/belfry/.belfry',
  databaseUrl: 'postgresql://embedded',
  redisUrl: 'redis://private',
  port: 3000,
  metricsPorts: { api: 3005, scheduler: 3004 },
  secrets: { JWT_SECRET: 'made here', ENCRYPTION_KEYS: 'k1:made here', OPERATOR_PASSWORD: 'made here' },
}

test('adds what makes a workbench to an empty environment', () => {
  expect(serviceEnvironment('dispatcher', {}, settings)).toEqual({
    DATABASE_URL: 'postgresql://embedded',
    REDIS_URL: 'redis://private',
    PORT: '3000',
    METRICS_PORT: '0',
    OWN_LISTENERS: '127.0.0.1:3005,127.0.0.1:3004',
    PUBLIC_URL: 'http://localhost:3000',
    JWT_SECRET: 'made here',
    ENCRYPTION_KEYS: 'k1:made here',
    OPERATOR_PASSWORD: 'made here',
    SMTP_URL: 'file:///home/ann/belfry/.belfry/mail',
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8,::1/128',
    DEFAULT_TIER: 'unicorn',
    LOG_LEVEL: 'info',
  })
})

test('leaves the user every setting but the places of the servers, and drops NODE_ENV', () => {
  const env = { LOG_LEVEL: 'debug', JWT_SECRET: 'mine', SMTP_URL: 'smtp://mail', PORT: '0', NODE_ENV: 'production' }
  const result = serviceEnvironment('api', env, settings)
  expect(result).toMatchObject({ LOG_LEVEL: 'debug', JWT_SECRET: 'mine', SMTP_URL: 'smtp://mail', PORT: '3000' })
  expect(result).not.toHaveProperty('NODE_ENV')
})

test('names no Redis when there is none, so that the queue lives in PostgreSQL', () => {
  expect(serviceEnvironment('api', { REDIS_URL: '' }, { ...settings, redisUrl: null })).not.toHaveProperty('REDIS_URL')
})

test('shows the dispatcher where the others listen, beside what the user has named', () => {
  expect(serviceEnvironment('scheduler', {}, settings)).toMatchObject({ METRICS_PORT: '3004' })
  expect(serviceEnvironment('api', {}, settings)).toMatchObject({ METRICS_PORT: '3005' })
  const env = { OWN_LISTENERS: 'grafana.internal:3000' }
  const own = 'grafana.internal:3000,127.0.0.1:3005,127.0.0.1:3004'
  expect(serviceEnvironment('dispatcher', env, settings)).toMatchObject({ OWN_LISTENERS: own })
})
