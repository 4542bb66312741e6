import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createEmptyDatabase, startReceiver, type TestDatabase } from '@belfry/test-support'
import { hasMariadb, startMariadb } from '@belfry/test-support/servers'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Belfry, startBelfry } from '../belfry.ts'
import { hasPython, useVenv } from '../python.ts'
import { repositoryRoot } from '../repository-root.ts'
import { callOf, expectReceived, generatedCall } from '../same-call.ts'

const project = join(repositoryRoot(), 'clients/python')

describe.skipIf(!hasPython)('the Python client, which requires Python 3.10 with venv', () => {
  const venv = useVenv()
  const options = { cwd: project }
  let belfry: Belfry
  let database: TestDatabase
  let mariadb: Awaited<ReturnType<typeof startMariadb>> | undefined
  const environment = () => ({
    ...process.env,
    ...{ BELFRY_URL: belfry.url, BELFRY_API_KEY: belfry.caller.apiKey ?? '' },
    ...{ POSTGRES_URL: database.url, MYSQL_URL: mariadb?.url },
  })

  beforeAll(async () => {
    const wheels = venv.path('wheels')
    await venv.pip(['wheel', '--no-deps', '--wheel-dir', wheels, '.'], options)
    const [wheel = ''] = await readdir(wheels)
    await venv.pip(['install', `${join(wheels, wheel)}[test]`], options)
    belfry = await startBelfry('postgres', { services: ['all-in-one'] })
    database = await createEmptyDatabase()
    if (hasMariadb) mariadb = await startMariadb(venv.path('mariadb'))
  }, 180_000)
  afterAll(async () => {
    await belfry?.close()
    await database?.drop()
    await mariadb?.stop()
  })

  it('is typed', async () => {
    expect(await venv.run('mypy', ['--cache-dir', venv.path('mypy')], options)).toContain('Success')
  })

  it('passes its tests against a running Belfry, installed from its wheel', async () => {
    const report = await venv.run('pytest', ['-q', '-p', 'no:cacheprovider'], { ...options, env: environment() })
    expect(report).toMatch(hasMariadb ? /^\d+ passed in/m : /^\d+ passed, 3 skipped in/m)
  }, 180_000)

  it('leaves the same bytes at the target as the other doors', async () => {
    const target = await startReceiver()
    try {
      const at = new Date(Math.ceil(Date.now() / 1000) * 1000 + 20_000)
      const calls = fc
        .sample(generatedCall, { numRuns: 30, seed: 20261127 })
        .map((generated, index) =>
          ['text', 'value'].map(name => callOf(generated, target.url(`/same/${index}/${name}?a=b%20c&d=+e`), at)),
        )
      await writeFile(venv.path('calls.json'), JSON.stringify(calls))
      const script = join(repositoryRoot(), 'e2e/client/same_call.py')
      await venv.run('python', [script, venv.path('calls.json')], { env: environment() })
      for (const call of calls.flat()) await expectReceived(target, call, { hasTime: true })
    } finally {
      await target.close()
    }
  }, 180_000)
})
