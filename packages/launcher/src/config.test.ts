import { expect, test } from 'vitest'
import { checkout, readConfig } from './config.ts'

test('requires no variables, and treats an empty value as unset', () => {
  const nothing = { dataDir: `${checkout}.belfry`, port: 3000, databaseUrl: null, redisUrl: null }
  expect(readConfig({})).toMatchObject(nothing)
  expect(readConfig({ DATA_DIR: '', PORT: '', DATABASE_URL: '', REDIS_URL: '' })).toMatchObject(nothing)
})

test('reads all variables', () => {
  const env = { DATA_DIR: '/data', PORT: '0', DATABASE_URL: 'postgres://db/x', REDIS_URL: 'rediss://cache' }
  expect(readConfig(env)).toEqual({
    dataDir: '/data',
    port: 0,
    databaseUrl: 'postgres://db/x',
    redisUrl: 'rediss://cache',
    hasApi: true,
    env,
  })
})

test('derives from ROLES whether there is an API', () => {
  const hasApi = (ROLES: string) => readConfig({ ROLES }).hasApi
  expect(['', 'api', 'scheduler,api', 'scheduler,dispatcher'].map(hasApi)).toEqual([true, true, true, false])
})

test.each(['http', '-1', '65536', '3000.5', '1e3', ' 3000'])('refuses PORT=%s', port => {
  expect(() => readConfig({ PORT: port })).toThrow('it must be a number from 0 to 65535')
})

test.each(['mysql://root:secret@db/x', 'db.example.com'])('refuses DATABASE_URL=%s without showing it', text => {
  expect(() => readConfig({ DATABASE_URL: text })).toThrow(
    /^DATABASE_URL must be a URL that starts with postgresql:\/\/\.$/,
  )
})
