import { fileURLToPath } from 'node:url'
import { afterEach, expect, it, vi } from 'vitest'
import { run } from './run.ts'

afterEach(() => vi.unstubAllGlobals())

const repository = (name: string) => fileURLToPath(new URL(`files/github-actions/${name}`, import.meta.url))

/** Stands in for a Belfry whose workspace has these secrets and no cron jobs; returns the calls that change something. */
function fakeBelfry(secrets: string[]): Array<{ call: string; body: unknown }> {
  const changes: Array<{ call: string; body: unknown }> = []
  const page = (data: unknown[]) => Response.json({ data, next_cursor: null })
  vi.stubGlobal('fetch', async (url: string, { method = 'GET', body }: RequestInit = {}) => {
    const { pathname } = new URL(url)
    if (method === 'GET') return page(pathname.endsWith('/secrets') ? secrets.map(name => ({ name })) : [])
    const given = body ? JSON.parse(String(body)) : undefined
    changes.push({ call: `${method} ${pathname.replace('/api/v1/scheduler', '')}`, body: given })
    return Response.json({ id: 'cron_1', status: 'active', ...given }, { status: 201 })
  })
  return changes
}

it('creates nothing while a secret is missing, and says how to store it', async () => {
  const changes = fakeBelfry([])
  const { code, out, error } = await run(['import', 'github-actions', repository('docs-site'), '--repo', 'acme/app'])
  expect([code, out, changes]).toEqual([1, '', []])
  expect(
    error,
  ).toBe(`Store the secret GITHUB_TOKEN: belfry secrets put GITHUB_TOKEN --allowed-host api.github.com < its-value
Nothing was created.
`)
})

it('names the secrets that it uses as they are stored, because their values may be of another source', async () => {
  fakeBelfry(['EXAMPLE_COM_AUTHORIZATION'])
  const crontab = `0 0 * * * curl -H 'Authorization: Bearer a' https://example.com/a
0 0 * * * curl -H 'Authorization: Bearer b' https://example.com/b`
  const { code, error } = await run(['import', 'crontab', '-'], undefined, crontab)
  expect([code, error.split('\n')]).toEqual([
    1,
    [
      'Uses the secret EXAMPLE_COM_AUTHORIZATION as it is stored.',
      expect.stringMatching(/^Store the secret EXAMPLE_COM_AUTHORIZATION_2: /),
      'Nothing was created.',
      '',
    ],
  ])
})

it('creates cron jobs that start workflows', async () => {
  const changes = fakeBelfry(['GITHUB_TOKEN'])
  const { code, out, error } = await run(['import', 'github-actions', repository('docs-site'), '--repo', 'acme/app'])
  expect([code, error]).toEqual([0, 'Uses the secret GITHUB_TOKEN as it is stored.\n'])
  expect(out).toMatch(/^links.yml: created cron_1\n.*\n1 created\n$/s)
  expect(changes).toMatchObject([
    {
      call: 'POST /cronjobs',
      body: {
        name: 'acme/app Check links',
        url: 'https://api.github.com/repos/acme/app/actions/workflows/links.yml/dispatches',
        headers: { Authorization: 'Bearer {{ secrets.GITHUB_TOKEN }}' },
        payload: { ref: 'main' },
        cron: '30 5 * * 1',
      },
    },
  ])
})

it('pauses what cannot work yet before its first run', async () => {
  const changes = fakeBelfry(['GITHUB_TOKEN'])
  const { out } = await run([
    'import',
    'github-actions',
    repository('billing'),
    '--repo',
    'acme/app',
    '--ref',
    'release',
  ])
  expect(out).toContain('invoices.yaml, schedule 1: created cron_1 (paused)\n')
  expect(changes.map(({ call }) => call).slice(0, 3)).toEqual([
    'POST /cronjobs',
    'POST /cronjobs/cron_1/pause',
    'PATCH /cronjobs/cron_1',
  ])
  expect(changes[0]?.body).toMatchObject({ starts_at: '2090-01-01T00:00:00.000Z', payload: { ref: 'release' } })
  expect(changes[2]?.body).toMatchObject({ starts_at: null })
})
