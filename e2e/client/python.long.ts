import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { startBelfry } from '../belfry.ts'
import { hasPython, useVenv } from '../python.ts'
import { repositoryRoot } from '../repository-root.ts'

const project = join(repositoryRoot(), 'clients/python')

describe.skipIf(!hasPython)('the Python client, which requires Python 3.10 with venv', () => {
  const venv = useVenv()
  const options = { cwd: project }

  beforeAll(async () => {
    const wheels = venv.path('wheels')
    await venv.pip(['wheel', '--no-deps', '--wheel-dir', wheels, '.'], options)
    const [wheel = ''] = await readdir(wheels)
    await venv.pip(['install', `${join(wheels, wheel)}[test]`], options)
  }, 180_000)

  it('is typed', async () => {
    expect(await venv.run('mypy', ['--cache-dir', venv.path('mypy')], options)).toContain('Success')
  })

  it('passes its tests against a running Belfry, installed from its wheel', async () => {
    const belfry = await startBelfry('postgres', { services: ['all-in-one'] })
    try {
      const env = { ...process.env, BELFRY_URL: belfry.url, BELFRY_API_KEY: belfry.caller.apiKey ?? '' }
      const report = await venv.run('pytest', ['-q', '-p', 'no:cacheprovider'], { ...options, env })
      expect(report).toMatch(/^\d+ passed in/m)
    } finally {
      await belfry.close()
    }
  }, 180_000)
})
