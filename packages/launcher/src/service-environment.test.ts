import { expect, test } from 'vitest'
import { serviceEnvironment } from './service-environment.ts'

const settings = {
  databaseUrl: 'postgresql://embedded',
  redisUrl: 'redis://private',
  port: 3000,
  jwtSecret: 'made here',
}

test('adds what makes a workbench to an empty environment', () => {
  expect(serviceEnvironment({}, settings)).toEqual({
    DATABASE_URL: 'postgresql://embedded',
    REDIS_URL: 'redis://private',
    PORT: '3000',
    METRICS_PORT: '0',
    PUBLIC_URL: 'http://localhost:3000',
    JWT_SECRET: 'made here',
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8,::1/128',
    DEFAULT_TIER: 'unicorn',
    LOG_LEVEL: 'info',
  })
})

test('leaves the user every setting but the places of the servers, and drops NODE_ENV', () => {
  const env = { LOG_LEVEL: 'debug', JWT_SECRET: 'mine', SMTP_URL: 'smtp://mail', PORT: '0', NODE_ENV: 'production' }
  const result = serviceEnvironment(env, settings)
  expect(result).toMatchObject({ LOG_LEVEL: 'debug', JWT_SECRET: 'mine', SMTP_URL: 'smtp://mail', PORT: '3000' })
  expect(result).not.toHaveProperty('NODE_ENV')
})

test('names no Redis when there is none, so that the queue lives in PostgreSQL', () => {
  expect(serviceEnvironment({ REDIS_URL: '' }, { ...settings, redisUrl: null })).not.toHaveProperty('REDIS_URL')
})
