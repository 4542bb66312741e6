import { readFileSync } from 'node:fs'
import { undocumented } from '@belfry/test-support'
import { expect, it } from 'vitest'
import { loadConfig, variables } from './config.ts'

const example = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8')

it('has a line in .env.example for each of its variables', () => {
  for (const name of Object.keys(variables.shape)) expect(example).toMatch(new RegExp(`^${name}=`, 'm'))
})

it.each(['audit.jsonl', '/var/log/', '--'])('refuses %s as the file of audit entries', file => {
  const env = { DATABASE_URL: 'postgresql://db/belfry', AUDIT_LOG_FILE: file }
  expect(() => loadConfig(env)).toThrow(/AUDIT_LOG_FILE: must be an absolute path/)
})

it('refuses a tier that does not exist', () => {
  const env = { DATABASE_URL: 'postgresql://db/belfry', TIERS: '{"gold":{}}' }
  expect(() => loadConfig(env)).toThrow(/TIERS: gold is not a tier/)
})

it('refuses a place that is no object storage, and an organization that is none', () => {
  const load = (more: Record<string, string>) => loadConfig({ DATABASE_URL: 'postgresql://db/belfry', ...more })
  expect(() => load({ LOG_STORAGE_URL: '/mnt/log' })).toThrow('LOG_STORAGE_URL: must be s3://bucket/prefix')
  expect(() => load({ LEGAL_HOLD: 'acme' })).toThrow('LEGAL_HOLD: must be ids of organizations: acme is none')
  for (const hotDays of [1, 3650])
    expect(load({ LOG_STORAGE_URL: 's3://log', LOG_HOT_DAYS: String(hotDays) }).logStorage).toMatchObject({ hotDays })
  for (const days of ['0', '3651']) expect(() => load({ LOG_HOT_DAYS: days })).toThrow(/LOG_HOT_DAYS: must be/)
})

it('names every missing or invalid variable in one message', () => {
  expect(() => loadConfig({ LOG_LEVEL: 'loud' })).toThrow(/DATABASE_URL.*LOG_LEVEL/s)
})

it('is documented in docs/configuration.md, with requirements and defaults', () => {
  const names = Object.keys(variables.shape)
  expect(
    undocumented({ process: 'scheduler', names, load: loadConfig, env: { DATABASE_URL: 'postgresql://db/belfry' } }),
  ).toEqual([])
})
