import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Belfry, stringifyJson } from '@belfry/client'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { type Caller, createWorkspace } from '../api-calls.ts'
import { useBelfry } from '../belfry.ts'
import { repositoryRoot } from '../repository-root.ts'
import { startCli, startCommand } from './run-cli.ts'

const lambda = 'arn:aws:lambda:eu-central-1:123456789012:function'
const installation = useBelfry('postgres')
let caller: Caller
let belfry: Belfry
let file: string
beforeAll(async () => {
  file = join(await mkdtemp(join(tmpdir(), 'belfry-import-')), 'schedules')
})
beforeEach(async () => {
  caller = await createWorkspace(installation.url, installation.caller)
  belfry = new Belfry({ apiKey: caller.apiKey ?? '', baseUrl: installation.url })
  await belfry.workspaces.secrets.put('current', 'EXAMPLE_COM_AUTHORIZATION', 'the token')
})

const run = (...args: string[]) => startCommand({ url: installation.url, caller }, ['import', ...args]).ended
const jobs = async () => (await belfry.cronJobs.list({ limit: 100 })).data.toReversed()

const crontab = `# m h dom mon dow command
CRON_TZ=America/New_York
TOKEN=abc
0 9 * * 1-5 curl -fsS -m 20 -H "Authorization: Bearer $TOKEN" --json '{"n":12345678901234567890}' https://example.com/report > /dev/null
@hourly https://example.com/ping
`

it('creates cron jobs from a crontab, each only once', async () => {
  await writeFile(file, crontab)
  const first = await run('crontab', file)
  expect([first.code, first.error]).toEqual([0, 'Uses the secret EXAMPLE_COM_AUTHORIZATION as it is stored.\n'])
  expect(first.out).toMatch(/^line 4: created cron_\w+\n.*\n2 created\n$/s)
  const made = await jobs()
  expect(made).toMatchObject([
    {
      name: 'POST example.com/report',
      url: 'https://example.com/report',
      method: 'POST',
      cron: '0 9 * * 1-5',
      timezone: 'America/New_York',
      headers: {
        Authorization: 'Bearer {{ secrets.EXAMPLE_COM_AUTHORIZATION }}',
        'Content-Type': 'application/json',
        Accept: 'application/json',
      },
      timeoutMs: 20_000,
      status: 'active',
    },
    { url: 'https://example.com/ping', method: 'GET', cron: '0 * * * *', timezone: 'America/New_York' },
  ])
  expect((await run('crontab', file)).out).toMatch(/\n2 existing\n$/)
  expect(await jobs()).toHaveLength(2)
  // A deleted cron job is created again, although its idempotency key is known.
  await belfry.cronJobs.delete(made[0]?.id ?? '')
  expect((await run('crontab', file)).out).toMatch(/\n1 created, 1 existing\n$/)
  const again = await jobs()
  expect(again).toHaveLength(2)
  // Even if other lines have changed.
  for (const { id } of again) await belfry.cronJobs.delete(id)
  await writeFile(file, crontab.replace('-m 20', '-m 30'))
  expect((await run('crontab', file)).out).toMatch(/\n2 created\n$/)
  expect((await jobs()).map(({ timeoutMs }) => timeoutMs).sort()).toEqual([30_000, 30_000])
})

it('shows in a dry run the cron jobs that it would create, without a Belfry, and creates none', async () => {
  await writeFile(file, crontab)
  const dry = await run('crontab', file, '--dry-run', '--json')
  const shown = dry.out
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(dry.out).toContain('"payload":{"n":12345678901234567890}')
  expect(shown.map(({ place, outcome, id }) => [place, outcome, id])).toEqual([
    ['line 4', 'would be created', null],
    ['line 5', 'would be created', null],
  ])
  expect(await jobs()).toEqual([])
  const offline = startCommand(
    { url: 'http://127.0.0.1:1', caller: {} },
    ['import', 'crontab', '-', '--dry-run'],
    crontab,
  )
  expect((await offline.ended).out).toMatch(/^line 4: would be created\n {2}POST https:\/\/example.com\/report\n/)
  // The dry run shows the same cron jobs.
  await run('crontab', file)
  const [made] = await jobs()
  const { timeout_ms: timeoutMs, payload, ...rest } = shown[0].job
  expect(made).toMatchObject({ ...rest, timeoutMs })
  expect(Object.keys(payload)).toEqual(['n'])
  expect(stringifyJson(made?.payload)).toBe('{"n":12345678901234567890}')
})

it('creates nothing when a line is rejected, except with --skip-refused', async () => {
  await writeFile(file, `${crontab}@reboot /usr/bin/true\n`)
  const refused = await run('crontab', file)
  expect([refused.code, refused.out]).toEqual([1, ''])
  expect(refused.error).toBe(
    `${file}, line 6: @reboot is not supported, because it is not a time.\nNothing was created. Fix them, or create the other 2 with --skip-refused.\n`,
  )
  expect(await jobs()).toEqual([])
  const skipped = await run('crontab', file, '--skip-refused')
  expect([skipped.code, skipped.out.trim().split('\n').at(-1)]).toEqual([0, '2 created, 1 refused'])
  expect(await jobs()).toHaveLength(2)
})

it('uses the time zone of the machine if a crontab names none', async () => {
  await writeFile(file, '0 0 * * * https://example.com/a\n')
  await startCli({ url: installation.url, caller }, ['import', 'crontab', file]).ended // in Berlin
  await run('crontab', file, '--timezone', 'UTC')
  expect((await jobs()).map(({ timezone }) => timezone)).toEqual(['Europe/Berlin', 'UTC'])
})

it('creates cron jobs from QStash schedules, paused ones without a call before the pause', async () => {
  const schedule = { scheduleId: 'scd_1', cron: '* * * * *', destination: 'https://example.com/a', method: 'POST' }
  const paused = { ...schedule, scheduleId: 'scd_2', isPaused: true, body: '{"a":1}', retries: 3 }
  const header = { 'Content-Type': ['text/plain'], 'Upstash-Label': ['x'] }
  const zoned = { ...schedule, scheduleId: 'scd_3', cron: 'CRON_TZ=Asia/Tokyo 0 9 * * *', header, body: 'hello' }
  await writeFile(file, JSON.stringify([schedule, paused, zoned]))
  const first = await run('qstash', file)
  expect([first.code, first.error]).toEqual([0, ''])
  expect(await jobs()).toMatchObject([
    { name: 'POST example.com/a (scd_1)', status: 'active' },
    { status: 'paused', startsAt: null, payload: { a: 1 }, retry: { maxRetries: 3 } },
    { timezone: 'Asia/Tokyo', headers: { 'Content-Type': 'text/plain' }, payload: 'hello' },
  ])
  expect((await belfry.tasks.list()).data.filter(({ name }) => name.includes('scd_2'))).toEqual([])
  expect((await run('qstash', file)).out).toMatch(/\n3 existing\n$/)
})

// The files of the CLI's own tests, which show each cron job.
it.each([
  ['cloud-scheduler', 'shop.json', ['HOOKS_EXAMPLE_COM_AUTHORIZATION'], 2, []],
  ['eventbridge', 'reports.json', [], 2, ['--target', `${lambda}:report=https://example.com/report`]],
  ['eventbridge', 'reminders.json', [], 2, ['--target', `${lambda}:mail=https://example.com/mail`]],
  ['vercel', 'pro.json', ['CRON_SECRET'], 2, ['--origin', 'https://example.com', '--cron-secret']],
  ['github-actions', 'billing', ['GITHUB_TOKEN'], 2, ['--repo', 'acme/app']],
  [
    'pg-cron',
    'supabase.json',
    ['PROJECT_URL', 'ANON_KEY', 'ABCDEFGH_SUPABASE_CO_AUTHORIZATION'],
    2,
    ['--skip-refused'],
  ],
  ['pg-cron', 'http-extension.csv', ['API_EXAMPLE_COM_X_API_KEY'], 4, ['--skip-refused']],
])(
  'imports %s %s once its secrets are stored, each cron job only once',
  async (source, name, secrets, count, options) => {
    const args = [source, join(repositoryRoot(), 'programs/cli/test/files', source, name), ...options]
    for (const secret of secrets) {
      expect((await run(...args)).code).toBe(1)
      await belfry.workspaces.secrets.put('current', secret, 'https://example.com')
    }
    expect((await run(...args)).out).toContain(`\n${count} created`)
    const made = await jobs()
    expect(made).toHaveLength(count)
    expect(made.filter(({ startsAt }) => startsAt?.startsWith('2090'))).toEqual([])
    expect((await run(...args)).out).toContain(`\n${count} existing`)
  },
)

it('can create all of them paused', async () => {
  await writeFile(file, crontab)
  await run('crontab', file, '--paused')
  expect((await jobs()).map(({ status, startsAt }) => [status, startsAt])).toEqual(Array(2).fill(['paused', null]))
})

it('reports the problem with a file', async () => {
  await writeFile(file, '<html>')
  expect(await run('qstash', file)).toMatchObject({ code: 2, error: expect.stringContaining('not JSON') })
  expect(await run('qstash', '/nowhere')).toMatchObject({ code: 2, error: expect.stringContaining('cannot be read') })
})
