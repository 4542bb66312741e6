import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { run } from './run.ts'

const files = fileURLToPath(new URL('files/', import.meta.url))
const lambda = 'arn:aws:lambda:eu-central-1:123456789012:function'

/** The options with which the files of each source are imported. */
const sources: Record<string, string[]> = {
  'cloud-scheduler': [
    ...['--target', 'appengine=https://worker.example.com'],
    ...['--target', 'projects/acme/topics/nightly=https://worker.example.com/nightly'],
  ],
  eventbridge: ['report', 'mail', 'poll'].flatMap(name => [
    '--target',
    `${lambda}:${name}=https://fn.example.com/${name}`,
  ]),
  vercel: ['--origin', 'https://shop.example.com/'],
  'github-actions': ['--repo', 'acme/app'],
  'pg-cron': [],
}

// The files look like exports of their schedulers. Beside each file is the output of a dry run without a key.
it.each(
  Object.keys(sources).flatMap(source =>
    readdirSync(join(files, source))
      .filter(name => !name.endsWith('.txt'))
      .map(name => [source, name] as const),
  ),
)('%s %s', async (source, name) => {
  const path = join(files, source, name)
  const { code, out, error } = await run(['import', source, path, '--dry-run', ...(sources[source] ?? [])], {})
  expect(code).toBe(error.includes(`${path}, `) ? 1 : 0)
  const shown = `${out}\n${error.replaceAll(path, name)}`
  await expect(shown).toMatchFileSnapshot(`${path.replace(/\.\w+$/, '')}.txt`)
})

it('knows a value of the vault that is not secret, so the secrets are bound to its host', async () => {
  const more = ['--var', 'project_url=https://abcdefgh.supabase.co', '--skip-refused', '--dry-run']
  const { out, error } = await run(['import', 'pg-cron', join(files, 'pg-cron/supabase.json'), ...more], {})
  expect(out).toContain('POST https://abcdefgh.supabase.co/functions/v1/function-name\n')
  expect(error).toContain('belfry secrets put ANON_KEY --allowed-host abcdefgh.supabase.co < its-value\n')
})

it('keeps all digits of the numbers of a pg_cron job', async () => {
  const command = `select net.http_post('https://example.com', body := jsonb_build_object('n', 12345678901234567890), params := '{"id": 9007199254740993}')`
  const job = { jobid: 1, schedule: '0 0 * * *', command }
  const { out } = await run(['import', 'pg-cron', '-', '--dry-run'], {}, JSON.stringify([job]))
  expect(out).toContain('POST https://example.com?id=9007199254740993\n')
  expect(out).toContain('{"n":12345678901234567890}\n')
})

it.each([
  [
    'crontab',
    '0 0 * * * curl -u ada:pass -H "X-Api-Key: k3y" https://example.com/a\n0 1 * * * curl -H "Cookie: k3y" https://example.com',
  ],
  [
    'qstash',
    JSON.stringify([
      { cron: '* * * * *', destination: 'https://example.com/a', header: { Authorization: ['Basic YWRhOnBhc3M='] } },
      { cron: '0 * * * *', destination: 'https://example.com/a', header: { 'X-Api-Key': ['k3y'], Cookie: ['k3y'] } },
    ]),
  ],
])('writes no credential of a header into a file: %s', async (source, text) => {
  const { out } = await run(['import', source, '-', '--to-file'], {}, text)
  expect(out).toContain('Authorization: Basic {{ secrets.EXAMPLE_COM_AUTHORIZATION }}\n')
  expect(out).toContain('X-Api-Key: "{{ secrets.EXAMPLE_COM_X_API_KEY }}"\n')
  expect(out).toContain('Cookie: "{{ secrets.EXAMPLE_COM_X_API_KEY }}"\n')
  expect(out).not.toMatch(/k3y|YWRhOnBhc3M/)
})

it('sends the secret of a Vercel project', async () => {
  const args = [
    'import',
    'vercel',
    join(files, 'vercel/hobby.json'),
    '--origin',
    'https://a.example.com',
    '--cron-secret',
  ]
  const { out, error } = await run([...args, '--to-file'], {})
  expect(out).toContain('secrets:\n  - CRON_SECRET\n')
  expect([out, error]).toEqual([expect.stringContaining('Authorization: Bearer {{ secrets.CRON_SECRET }}'), ''])
})

it.each([
  [['vercel', '-'], /--origin https/],
  [['github-actions'], /--repo owner\/name/],
  [['github-actions', '--repo', 'acme'], /--repo owner\/name/],
  [['github-actions', '/nowhere', '--repo', 'a/b'], /workflows cannot be read/],
  [['pg-cron'], /either a file or --from/],
  [['pg-cron', '-', '--from', 'postgresql://localhost'], /either a file or --from/],
  [['pg-cron', '-', '--var', 'a'], /must look like name=value/],
  [['pg-cron', '--from', 'postgresql://127.0.0.1:1/x'], /cron.job cannot be read/],
])('exits with 2 for import %j', async (args, message) => {
  const { code, out, error } = await run(['import', ...args], {}, '')
  expect([code, out]).toEqual([2, ''])
  expect(error).toMatch(message)
})
