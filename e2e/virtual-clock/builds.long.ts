import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { bundleOf, type ProgramName, spawnService } from '../processes.ts'
import { virtualEnvironment } from './virtual-belfry.ts'

const environment = virtualEnvironment('postgresql://nowhere', 1)

async function refusal(program: ProgramName, env: Record<string, string>, bundle?: string): Promise<string> {
  const service = spawnService(program, env, bundle)
  expect(await service.ended).toBe(1)
  return service.output
}

it.each(['all-in-one', 'api', 'scheduler', 'dispatcher'] as const)(
  'is no part of the %s that images and `npm start` run, which refuses to start with it',
  async program => {
    const bundle = await readFile(bundleOf(program), 'utf8')
    expect(bundle).not.toMatch(/virtual_clock\.|frozen_at|api\/test\/clock|globalThis\.Date ?=/)
    expect(await refusal(program, environment)).toContain('VIRTUAL_CLOCK: is not part of this build')
  },
)

it('does not start in production, without VIRTUAL_CLOCK=on, or with a Redis', async () => {
  const starts = [
    { ...environment, NODE_ENV: 'production' },
    { ...environment, VIRTUAL_CLOCK: 'off' },
    { ...environment, REDIS_URL: 'redis://127.0.0.1:1' },
  ]
  const outputs = await Promise.all(starts.map(env => refusal('all-in-one', env, 'testing.mjs')))
  const [production = '', off = '', redis = ''] = outputs
  expect(production).toContain('NODE_ENV: must not be production')
  expect(off).toContain('VIRTUAL_CLOCK: must be on')
  expect(redis).toContain('REDIS_URL: must be empty')
})
