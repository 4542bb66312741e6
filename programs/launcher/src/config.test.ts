import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkout, readConfig } from './config.ts'
import { withoutPassword } from './launch.ts'

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
    demo: false,
    env,
  })
})

test('accepts addresses with several hosts', () => {
  const env = {
    DATABASE_URL: 'postgresql://me:secret@one:5432,two:5433/x',
    REDIS_URL: 'redis+cluster://:secret@one:1,two:2',
  }
  expect(readConfig(env)).toMatchObject({ databaseUrl: env.DATABASE_URL, redisUrl: env.REDIS_URL })
  expect(Object.values(env).map(withoutPassword)).toEqual([
    'postgresql://me@one:5432,two:5433/x',
    'redis+cluster://@one:1,two:2',
  ])
})

test('derives from ROLES whether there is an API', () => {
  const hasApi = (ROLES: string) => readConfig({ ROLES }).hasApi
  expect(['', 'api', 'scheduler,api', 'scheduler,dispatcher'].map(hasApi)).toEqual([true, true, true, false])
})

test('reads whether a demo is wanted', () => {
  expect([readConfig({ DEMO: 'on' }).demo, readConfig({ DEMO: 'off' }).demo, readConfig({}).demo]).toEqual([
    true,
    false,
    false,
  ])
  expect(() => readConfig({ DEMO: 'yes' })).toThrow('DEMO is "yes": it must be on or off.')
})

test.each(['http', '-1', '65536', '3000.5', '1e3', ' 3000'])('refuses PORT=%s', port => {
  expect(() => readConfig({ PORT: port })).toThrow('it must be a number from 0 to 65535')
})

test.each(['mysql://root:secret@db/x', 'db.example.com'])('refuses DATABASE_URL=%s without showing it', text => {
  expect(() => readConfig({ DATABASE_URL: text })).toThrow(
    /^DATABASE_URL must be a URL that starts with postgresql:\/\/\.$/,
  )
})

test('reads secrets from files, also those of the service', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'belfry-launcher-')), 'secret')
  writeFileSync(path, 'postgres://u:p@db/x\n')
  const config = readConfig({ DATABASE_URL_FILE: path, JWT_SECRET_FILE: path })
  expect(config.databaseUrl).toBe('postgres://u:p@db/x')
  expect(config.env).toEqual({ DATABASE_URL: 'postgres://u:p@db/x', JWT_SECRET: 'postgres://u:p@db/x' })
  expect(() => readConfig({ REDIS_URL_FILE: '/nowhere' })).toThrow('REDIS_URL_FILE: its file cannot be read (ENOENT).')
})
