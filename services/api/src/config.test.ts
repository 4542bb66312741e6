import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { loadConfig, variables } from './config.ts'

const example = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8')

it('has a line in .env.example for each of its variables', () => {
  for (const name of Object.keys(variables.shape)) expect(example).toMatch(new RegExp(`^${name}=`, 'm'))
})

it('names everything that is missing or wrong in one message', () => {
  expect(() => loadConfig({ LOG_LEVEL: 'loud' })).toThrow(/DATABASE_URL.*LOG_LEVEL/s)
})

it('wants master keys, and does not show what it was given for them', () => {
  const env = { DATABASE_URL: 'postgresql://db/belfry', JWT_SECRET: 'x'.repeat(32) }
  expect(() => loadConfig(env)).toThrow(/ENCRYPTION_KEYS: is required/)
  expect(() => loadConfig({ ...env, ENCRYPTION_KEYS: 'k1:dG9vIHNob3J0' })).toThrow(/ENCRYPTION_KEYS: .*k1(?!.*dG9v)/)
})

it('wants a secret that is long enough, and takes its public address from the port', () => {
  const keys = `k1:${randomBytes(32).toString('base64')}`
  const env = { DATABASE_URL: 'postgresql://db/belfry', PORT: '8080', JWT_SECRET: 'short', ENCRYPTION_KEYS: keys }
  expect(() => loadConfig(env)).toThrow(/JWT_SECRET/)
  expect(loadConfig({ ...env, JWT_SECRET: 'x'.repeat(32) }).publicUrl).toBe('http://localhost:8080')
})
