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

it('refuses an address range that is not one', () => {
  const env = { DATABASE_URL: 'postgresql://db/belfry', ALLOWED_PRIVATE_TARGETS: '10.0.0.0/8,nonsense' }
  expect(() => loadConfig(env)).toThrow(/ALLOWED_PRIVATE_TARGETS.*nonsense/)
})
