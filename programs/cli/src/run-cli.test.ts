import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { run } from '../test/run.ts'
import { closedPipe } from './context.ts'

const commands = [
  'schedule',
  'publish',
  'cron',
  'list',
  'show',
  'cancel',
  'replay',
  'tail',
  'listen',
  'import',
  'token',
  'whoami',
  'completion',
]

it('lists its commands', async () => {
  const { code, out } = await run(['--help'])
  expect(code).toBe(0)
  for (const name of commands) expect(out).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'))
  expect(await run(['--version'])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+(-dev)?\n$/) })
})

it.each([
  ...commands,
  'cron create',
  'cron preview',
  'import crontab',
  'import qstash',
  'import pg-cron',
  'import vercel',
])('has help for %s', async name => {
  const { code, out, error } = await run([...name.split(' '), '--help'])
  expect([code, error]).toEqual([0, ''])
  expect(out).toMatch(new RegExp(`^Usage: belfry ${name}[ |]`))
  expect(out).toContain('--api-key')
})

describe('exits with 2 and a usage error', () => {
  it.each([
    [['schedule', 'https://example.com'], /either --at <time> or --in/],
    [['schedule', 'https://example.com', '--in', '1h', '--at', '2090-01-01T00:00:00Z'], /either --at <time> or --in/],
    [['schedule', 'https://example.com', '--in', 'soon'], /not a duration/],
    [
      ['schedule', 'https://example.com', '--at', '2090-01-01T00:00:00'],
      /is not a time: it must have a time of day and an offset/,
    ],
    [['replay', '--dead', '--to', ''], /is not a time: it must be a timestamp with an offset/],
    [['cancel', '--all', '--from', ''], /is not a time: it must be a timestamp with an offset/],
    [['schedule', 'https://example.com', '--in', '1h', '-d', 'a=1'], /--data is not JSON/],
    [
      ['schedule', 'https://example.com', '--in', '1h', '-d', '1', '--text', 'a'],
      /only one of --data, --text and --file/,
    ],
    [['schedule', 'https://example.com', '--in', '1h', '-X', 'HEAD'], /Choose from GET/],
    [['schedule', 'https://example.com', '--in', '1h', '-H', 'nothing'], /A header must be/],
    [['schedule', 'https://example.com', '--in', '1h', '--retries', '21'], /at most 20/],
    [['schedule', 'https://example.com', '--in', '1h', '-d', '@/nowhere'], /cannot be read/],
    [['list', 'dogs'], /dogs cannot be listed/],
    [['list', 'tasks', '--topic', 'a'], /--topic does not apply to tasks/],
    [['list', '--limit', '0'], /at least 1/],
    [['list', '--url', 'nowhere'], /not a URL/],
    [['show', 'banana'], /not an id/],
    [['listen', 'nowhere'], /not a port or a URL/],
    [['listen', 'ftp://localhost'], /not a port or a URL/],
    [['replay'], /ids of tasks/],
    [['replay', '--topic', 'a'], /add --dead/],
    [['replay', 'task_1', '--dead'], /either ids or --dead/],
    [['import', 'crontab', '-', '--timezone', 'Mars/Olympus'], /not a time zone/],
    [['cron', 'create', 'https://example.com'], /--cron/],
    [['token', 'exchange'], /missing required argument/],
    [['token', 'exchange', 'fed_1'], /id-token: write/],
    [['fly'], /unknown command/],
    [['start'], /npm start/],
    [['cron', 'preview', '30', '2', '*', '*', '*'], /into quotes/],
    [['cronjobs', 'create', 'https://example.com', '--cron', '30', '2', '*', '*', '*'], /into quotes/],
    [['publish', 'a.topic', 'https://example.com'], /--to/],
    [['cancel', '--all'], /every pending task of the workspace: add --yes/],
    [['stop', '--all'], /every retrying task of the workspace: add --yes/],
    [['cron', 'pause', '--all'], /every active cron job of the workspace: add --yes/],
    [['list', '--fly'], /unknown option/],
    [['login'], /Set BELFRY_API_KEY/],
    [['trigger', 'cron_1'], /such as cron or queues/],
    [['secrets', 'put', 'TOKEN', 'abc'], /standard input/],
    [['replay', '--all'], /--dead/],
    [['import', 'pgcron'], /Did you mean pg-cron\?/],
    [['crons'], /Did you mean cron\?/],
    [['--jsn', 'list'], /Did you mean --json\?/],
    [['schedule', 'https://example.com', '--in', '1h', '--retry', '3'], /Did you mean --retries\?/],
    [['schedule', 'https://example.com', '--delay', '10'], /not a duration such as 90s/],
    [['schedule', 'https://example.com', '--at', 'tomorrow'], /must be a timestamp with an offset, such as/],
    [['queues', 'set', 'a', '--rate', '5'], /must look like 100\/1m/],
    [['tail', '--status', 'dead'], /choices are success, failed/],
  ])('%j', async (args, message) => {
    const { code, out, error } = await run(args)
    expect([code, out]).toEqual([2, ''])
    expect(error).toMatch(message)
  })

  it('without a key', async () => {
    const { code, error } = await run(['list'], {})
    expect([code, error]).toEqual([2, expect.stringContaining('BELFRY_API_KEY')])
  })
})

it.each([
  [0, ['--json', 'tail'], ''],
  [0, ['listen', '3001'], ''],
  [1, ['cron', 'pause', '--all', '--yes'], ''],
  [1, ['replay', 'task_1'], ''],
  [1, ['apply', '-f', '-'], 'project: shop'],
  [1, ['import', 'crontab', '-'], '* * * * * https://example.com'],
])('exits with %i after an interruption of %j', async (code, args, input) => {
  const error = code === 0 ? '' : 'Interrupted.\n'
  expect(await run(args, undefined, input, AbortSignal.abort())).toEqual({ code, out: '', error })
})

it('exits with 0 only after a closed pipe of a command that reads', async () => {
  const page = { data: [{ name: 'a', updated_at: '2026-01-01T00:00:00Z' }], next_cursor: null }
  vi.stubGlobal('fetch', async (_url: string, { signal }: RequestInit) => {
    signal?.throwIfAborted()
    return Response.json(page)
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  const end = async (args: string[], reason?: Error) =>
    (await run(args, undefined, 'project: shop', AbortSignal.abort(reason))).code
  expect(await end(['--json', 'list', 'secrets', '--all'], closedPipe)).toBe(0)
  expect(await end(['--json', 'list', 'secrets', '--all'])).toBe(1)
  expect(await end(['tail'], closedPipe)).toBe(0)
  expect(await end(['apply', '-f', '-'], closedPipe)).toBe(1)
})
