import { type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Caller, createWorkspace } from '../api-calls.ts'
import { useBelfry } from '../belfry.ts'
import { startCommand } from './run-cli.ts'

const belfry = useBelfry('postgres')
let target: Receiver
beforeAll(async () => {
  target = await startReceiver()
})
afterAll(() => target?.close())

const cli = (args: string[], input?: string, caller = belfry.caller) =>
  startCommand({ url: belfry.url, caller }, args, input).ended
const json = async (args: string[], input?: string, caller?: Caller) => {
  const { code, out, error } = await cli([...args, '--json'], input, caller)
  expect([code, error]).toEqual([0, ''])
  return out
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))
}

describe('queues', () => {
  it('are created, shown, listed, paused, resumed and deleted', async () => {
    const limits = ['--max-concurrent', '2', '--rate', '100/1m', '--ordered']
    expect(await json(['queues', 'set', 'plain/a', ...limits])).toMatchObject([
      { name: 'plain/a', maxConcurrent: 2, rateLimit: { count: 100, periodMs: 60_000 }, ordered: true, pausedAt: null },
    ])
    const shown = await cli(['queues', 'show', 'plain/a'])
    expect(shown.out).toBe('plain/a\t2 at a time, 100 per 60s, ordered\tactive\t0\t0\t-\n')
    expect(await json(['queues', 'pause', 'plain/a'])).toMatchObject([{ pausedAt: expect.any(String) }])
    expect((await cli(['queues', 'show', 'plain/a'])).out).toContain('\tpaused\t')
    expect(await json(['queues', 'resume', 'plain/a'])).toMatchObject([{ pausedAt: null }])
    // Without options a queue has no limits.
    expect(await json(['queues', 'set', 'plain/a'])).toMatchObject([
      { maxConcurrent: null, rateLimit: null, ordered: false },
    ])
    await json(['queues', 'set', 'plain/b', '--rate', '5/1s'])
    expect((await json(['queues', '--name', 'plain/'])).map(({ name }) => name)).toEqual(['plain/a', 'plain/b'])
    expect((await cli(['queues', 'list', '--name', 'plain/b'])).out).toBe('plain/b\t5 per 1s\tactive\t0\t0\t-\n')
    expect((await cli(['queues', 'delete', 'plain/b'])).out).toBe('plain/b  deleted\n')
    expect(await cli(['queues', 'list', '--name', 'plain/b'])).toMatchObject({ code: 0, error: 'No queues found.\n' })
    expect((await cli(['queues', 'show', 'plain/b'])).error).toMatch(/^404 not_found/)
  })

  it('hold back the tasks that name them, and are not deleted meanwhile', async () => {
    await json(['queues', 'set', 'cli/held', '--max-concurrent', '1'])
    await json(['queues', 'pause', 'cli/held'])
    const args = ['publish', 'orders.paid', '--to', target.url('/held'), '-d', '{}', '--queue', 'cli/held']
    const [event] = await json(args)
    expect(event.tasks).toMatchObject([{ queue: 'cli/held' }])
    await waitFor(
      () => json(['queues', 'show', 'cli/held']),
      ([queue]) => queue.waiting === 1,
    )
    expect((await cli(['queues', 'delete', 'cli/held'])).error).toMatch(/^409 queue_in_use/)
    expect(target.requestsTo('/held')).toEqual([])
    await json(['queues', 'resume', 'cli/held'])
    await target.waitFor(() => target.requestsTo('/held').length === 1, 15_000)
  })

  it('are refused with limits that cannot be', async () => {
    for (const flags of [
      ['--rate', '100'],
      ['--rate', '1/soon'],
      ['--max-concurrent', '0'],
    ]) {
      expect(await cli(['queues', 'set', 'cli/bad', ...flags])).toMatchObject({ code: 2 })
    }
    expect((await cli(['queues', 'set', 'bad name'])).error).toMatch(/^404 not_found/)
  })
})

describe('schedules', () => {
  it('a call, and shows, lists and cancels it', async () => {
    const [task] = await json(
      [
        'schedule',
        target.url('/later'),
        '--in',
        '1h',
        '-X',
        'put',
        '-d',
        '@-',
        '-H',
        'X-Own: a: b',
        '--name',
        'later on',
      ],
      '{"n":12345678901234567890}',
    )
    expect(task).toMatchObject({ name: 'later on', method: 'PUT', state: 'pending', headers: { 'X-Own': 'a: b' } })
    expect(await json(['show', task.id])).toMatchObject([{ id: task.id, retry: { maxRetries: 5 } }])
    const listed = await cli(['list', '--name', 'later'])
    expect(listed.out).toBe(`${task.id}\tpending\t${task.executeAt}\t0\tlater on\tPUT ${target.url('/later')}\n`)
    expect((await cli(['cancel', task.id])).out).toBe(`${task.id}  cancelled\n`)
    const again = await cli(['cancel', task.id])
    expect([again.code, again.out]).toEqual([1, ''])
    expect(again.error).toMatch(/^409 task_not_pending: .*\nSee .*\/api\/problems\/task_not_pending\n\(request /)
  })

  it('the same only once with the same key', async () => {
    const args = ['schedule', target.url('/once'), '--at', '2090-01-01T00:00:00+01:00', '--idempotency-key', 'once']
    const [first] = await json(args)
    expect(await json(args)).toMatchObject([{ id: first.id, executeAt: '2089-12-31T23:00:00.000Z' }])
  })

  it('the bytes of a file, with the URLs of callbacks', async () => {
    const bytes = ['--file', '-', '--content-type', 'application/xml', '--on-success', target.url('/done')]
    const [task] = await json(['schedule', target.url('/raw'), '--in', '1h', ...bytes], '<a/>')
    expect(task).toMatchObject({ payload: null, payloadBase64: 'PGEvPg==', contentType: 'application/xml' })
    expect([task.onSuccess.url, task.onFailure]).toEqual([target.url('/done'), null])
    const published = ['publish', 'orders.paid', '--to', target.url('/event-2'), '--on-failure', target.url('/failed')]
    expect((await json(published))[0].tasks).toMatchObject([{ onFailure: { url: target.url('/failed') } }])
    expect(await cli(['schedule', target.url('/'), '--in', '1h', '-d', '1', '--file', '-'])).toMatchObject({ code: 2 })
    expect(await cli(['schedule', target.url('/'), '--in', '1h', '--content-type', 'a/b'])).toMatchObject({ code: 2 })
  })

  it('at a local time in a time zone', async () => {
    const at = ['schedule', target.url('/local'), '--at', '2090-06-01T09:00:00', '--timezone', 'Europe/Berlin']
    const [task] = await json([...at, '--expires', '1h'])
    expect(task).toMatchObject({
      ...{ executeAt: '2090-06-01T07:00:00.000Z', expiresAt: '2090-06-01T08:00:00.000Z', timezone: 'Europe/Berlin' },
      localTime: '2090-06-01T09:00:00.000+02:00',
    })
    expect((await cli(at)).out).toMatch(/at 2090-06-01T07:00:00.000Z \(2090-06-01T09:00:00.000\+02:00 Europe\/Berlin\)/)
    expect(await cli(['schedule', target.url('/'), '--in', '1h', '--timezone', 'UTC'])).toMatchObject({ code: 2 })
    expect((await cli([...at.slice(0, -1), 'Berlin'])).error).toContain('Berlin is not a time zone')
  })

  it('with the delays before its retries', async () => {
    const delays = ['--retry-delays', '0s, 10m,30d']
    const [task] = await json(['schedule', target.url('/listed'), '--in', '1h', ...delays])
    expect(task.retry).toEqual({ delaysMs: [0, 600_000, 2_592_000_000] })
    const [event] = await json(['publish', 'orders.paid', '--to', target.url('/listed'), ...delays])
    expect(event.tasks).toMatchObject([{ retry: task.retry }])
    const both = ['schedule', target.url('/'), '--in', '1h', '--retries', '1', ...delays]
    expect(await cli(both)).toMatchObject({ code: 2, error: expect.stringContaining('not both') })
  })

  it('with a deadline, a key and labels, and ends many at once', async () => {
    const url = target.url('/controls')
    const later = ['schedule', url, '--in', '1h', '--expires', '10m', '--label', 'cli', '--label', 'cli:2']
    const [task] = await json([...later, '--key', 'cli'])
    expect(task).toMatchObject({ key: 'cli', labels: ['cli', 'cli:2'] })
    expect(Date.parse(task.expiresAt) - Date.parse(task.executeAt)).toBe(600_000)
    expect((await cli([...later, '--key', 'cli'])).error).toMatch(/^409 key_in_use/)
    const [replaced] = await json([
      'schedule',
      url,
      '--in',
      '2h',
      '--label',
      'cli',
      '--key',
      'cli',
      '--on-conflict',
      'replace',
    ])
    expect(replaced).toMatchObject({ id: task.id, expiresAt: null, labels: ['cli'] })
    await json(later)
    expect((await cli(['list', '--label', 'cli'])).out.split('\n')).toHaveLength(3)
    expect((await cli(['cancel', '--all', '--label', 'cli', '--dry-run'])).out).toBe('2 pending\n')
    expect((await cli(['stop', '--all', '--label', 'cli'])).out).toBe('0 stopped\n')
    expect((await cli(['cancel', '--all', '--label', 'cli', '--name', 'POST'])).out).toBe('2 cancelled\n')
    expect((await cli(['cancel', '--label', 'cli'])).code).toBe(2)
    expect((await cli(['stop', task.id])).error).toMatch(/^409 task_not_retrying/)
    const [job] = await json(['cron', 'create', url, '--cron', '0 0 1 1 *', '--max-age', '5m', '--label', 'cli:job'])
    expect(job).toMatchObject({ maxAgeMs: 300_000, labels: ['cli:job'] })
    await cli(['cron', 'delete', job.id])
    const [event] = await json(['publish', 'a.b', '--to', url, '--max-age', '1m', '--label', 'cli:event'])
    expect(event.tasks[0].labels).toEqual(['cli:event'])
  })

  it('an event, with plain text, that is delivered', async () => {
    const [event] = await json(['publish', 'orders.paid', '--to', target.url('/event'), '-d', '{"id":7}'])
    await target.waitFor(() => target.requestsTo('/event').length === 1, 15_000)
    const [task] = event.tasks
    const runs = await waitFor(
      () => json(['list', 'runs', '--task', task.id]),
      found => found.length > 0,
    )
    expect(runs).toMatchObject([{ taskId: task.id, status: 'success', responseStatus: 200 }])
    expect(await json(['show', runs[0].id])).toMatchObject([{ request: { body: '{"id":7}' } }])
  })
})

describe('cron', () => {
  it('previews an expression in a time zone, with its clock changes', async () => {
    const { out, code } = await cli([
      ...['cron', 'preview', '30 2 * * *', '--timezone', 'Europe/Berlin', '-n', '2'],
      ...['--from', '2027-03-27T12:00:00Z'],
    ])
    expect(code).toBe(0)
    const [first, gap, after] = out.split('\n')
    expect(first).toBe('At 02:30')
    expect(gap).toMatch(/^2027-03-28T01:00:00.000Z {2}.*03:00.*\(2027-03-28T02:30 does not exist that day\)$/)
    expect(after).toMatch(/^2027-03-29T00:30:00.000Z {2}.*02:30/)
  })

  it('creates, pauses, resumes, triggers and deletes a job', async () => {
    const url = target.url('/cron')
    const [job] = await json([
      'cron',
      'create',
      url,
      '--cron',
      '0 0 1 1 *',
      '--timezone',
      'Asia/Tokyo',
      '--overlap',
      'skip',
    ])
    expect(job).toMatchObject({ status: 'active', timezone: 'Asia/Tokyo', overlap: 'skip', method: 'POST' })
    expect(await json(['cron', 'pause', job.id])).toMatchObject([{ status: 'paused' }])
    expect(await json(['cron', 'resume', '--all', '--yes'])).toMatchObject([{ id: job.id, status: 'active' }])
    expect((await cli(['cron', 'resume'])).code).toBe(2)
    for (const list of [
      ['list', 'cronjobs'],
      ['list', 'cron'],
      ['cron', 'list'],
      ['cronjobs', 'list'],
    ]) {
      expect(await json([...list, '--status', 'active'])).toMatchObject([{ id: job.id }])
    }
    const [task] = await json(['cron', 'trigger', job.id])
    expect(task).toMatchObject({ source: 'cron', cronjobId: job.id })
    await target.waitFor(() => target.requestsTo('/cron').length === 1, 15_000)
    expect((await cli(['cron', 'delete', job.id])).out).toBe(`${job.id}  deleted\n`)
    expect((await cli(['show', job.id])).code).toBe(1)
  })
})

describe('replays', () => {
  it('a task, and all dead letters', async () => {
    const caller = await createWorkspace(belfry.url, belfry.caller)
    const inOwn = (...args: string[]) => json(args, '', caller)
    target.answer('/dead', [{ status: 410 }, { status: 410 }, { status: 200 }])
    const [event] = await inOwn('publish', 'a.dead', '--to', target.url('/dead'))
    const id = event.tasks[0].id
    const dead = () => inOwn('list', 'dead-letters')
    expect(await waitFor(dead, found => found.length === 1)).toMatchObject([{ id, state: 'dead' }])
    const [replayed] = await inOwn('replay', id)
    expect(replayed).toMatchObject({ replayOf: id })
    await waitFor(dead, found => found.some(({ id }) => id === replayed.id))
    expect(await cli(['replay', '--dead', '--per-second', '1001'])).toMatchObject({ code: 2 })
    const all = ['replay', '--dead', '--per-second', '500', '--to', new Date().toISOString()]
    const { code, out } = await cli(all, '', caller)
    expect([code, out]).toEqual([0, expect.stringMatching(/^[12] replayed\n$/)])
    await waitFor(dead, found => found.length === 0)
  })
})

it('secrets put reads a value from standard input, without the line end of echo', async () => {
  const put = await cli(
    ['secrets', 'put', 'FROM_INPUT', '--allowed-host', 'api.example.com', '*.example.org'],
    'a value\n',
  )
  expect(put).toMatchObject({ code: 0, out: 'FROM_INPUT  stored\n', error: '' })
  expect(await json(['secrets', 'put', 'FROM_INPUT'], 'another value')).toMatchObject([
    { name: 'FROM_INPUT', allowedHosts: ['api.example.com', '*.example.org'] },
  ])
  const refused = await cli(['secrets', 'put', 'FROM_INPUT'], 'abc\n')
  expect([refused.code, refused.error]).toEqual([1, expect.stringMatching(/value must have at least 4 characters/i)])
  expect((await cli(['secrets', 'list'])).out).toContain('FROM_INPUT\t')
})

it('hosts pause and resume', async () => {
  const { code, out } = await cli(['hosts', 'pause', 'paused.example:8443'])
  expect([code, out]).toEqual([0, 'paused.example:8443  paused\n'])
  expect((await cli(['hosts', 'list'])).out).toContain('paused.example:8443\tpaused\t')
  expect(await json(['hosts', 'resume', 'paused.example:8443'])).toMatchObject([{ pausedAt: null }])
})

it('publish says that no subscription matches', async () => {
  const { code, out, error } = await cli(['publish', 'a.unheard'])
  expect([code, out]).toEqual([0, expect.stringMatching(/ {2}0 tasks\n$/)])
  expect(error).toContain('No subscription matches a.unheard')
})

describe('lists', () => {
  const kinds = 'tasks cronjobs runs dead-letters subscriptions connections secrets queues hosts'.split(' ')

  // A workspace with one of each, in which nothing changes between two commands.
  let caller: Caller
  beforeAll(async () => {
    caller = await createWorkspace(belfry.url, belfry.caller)
    const workspace = `/api/v1/workspaces/${caller.workspaceId}`
    const header = { kind: 'header', hosts: ['example.com'], value: 'a secret' }
    const subscription = { topic: 'a.b', url: target.url('/listed') }
    for (const [method, path, body] of [
      ['PUT', `${workspace}/secrets/TOKEN`, { value: 'a secret' }],
      ['PUT', `${workspace}/connections/listed`, header],
      ['PUT', '/api/v1/scheduler/queues/listed', {}],
      ['POST', '/api/v1/scheduler/subscriptions', subscription],
    ] as const) {
      expect((await belfry.call(method, path, body, caller)).status).toBeLessThan(300)
    }
    target.answer('/listed', { status: 410 })
    await json(['cron', 'create', target.url('/listed'), '--cron', '0 0 1 1 *'], '', caller)
    await json(['publish', 'a.dead', '--to', target.url('/listed')], '', caller)
    await waitFor(
      () => json(['list', 'dead-letters'], '', caller),
      found => found.length === 1,
    )
    // Counts of attempts follow the runs.
    await waitFor(
      () => json(['list', 'hosts'], '', caller),
      ([host]) => host?.health.day.attempts === 1,
    )
  })

  it.each(kinds)('%s, with the kind before and after the verb', async kind => {
    const listed = await cli(['list', kind, '--json'], '', caller)
    expect([listed.code, listed.out]).toEqual([0, expect.stringMatching(/^\{.*\}\n$/)])
    expect(await cli([kind, 'list', '--json'], '', caller)).toEqual(listed)
  })

  it('offers the filters of the kind only', async () => {
    expect((await cli(['secrets', 'list', '--topic', 'a'])).error).toMatch(/unknown option '--topic'/)
    expect((await cli(['runs', 'list', '--help'])).out).toContain('--topic')
  })
})

it('whoami shows the server, the workspace and the organization of the key', async () => {
  const [{ workspace, organization, ...rest }] = await json(['whoami'])
  expect(rest).toEqual({ url: belfry.url })
  expect(workspace.organizationId).toBe(organization.id)
  const { out } = await cli(['whoami'])
  const names = [workspace, organization].map(({ id, name }) => `${id}  ${name}`)
  expect(out).toBe(`${[belfry.url, ...names].join('\n')}\n`)
})

it('errors name the page about their code', async () => {
  target.answer('/gone', { status: 410 })
  const [{ tasks }] = await json(['publish', 'a.gone', '--to', target.url('/gone')])
  const [run] = await waitFor(
    () => json(['runs', 'list', '--task', tasks[0].id]),
    found => found.length > 0,
  )
  expect((await cli(['show', run.id])).error).toBe(`See ${belfry.url}/api/problems/http_status\n`)
  const { error } = await cli(['schedule', 'ftp://a', '--at', '2000-01-01T00:00:00Z'])
  for (const code of ['invalid_url', 'execute_at_not_future']) expect(error).toContain(`/api/problems/${code}\n`)
})

describe('tails', () => {
  it('the log, only the selected runs, until Ctrl-C', async () => {
    const tail = startCommand(belfry, ['tail', '--topic', 'b.wanted', '--json'])
    // It shows runs that start after it has connected.
    await waitFor(
      async () => {
        for (const topic of ['b.other', 'b.wanted']) await cli(['publish', topic, '--to', target.url('/tail')])
        return tail.out
      },
      out => out.includes('\n'),
    )
    const { code, out, error } = await tail.interrupt()
    expect([code, error]).toEqual([0, ''])
    const topics = out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).topic)
    expect(new Set(topics)).toEqual(new Set(['b.wanted']))
  })
})

describe('ends with 1 and the reason', () => {
  it.each([
    [['schedule', 'https://example.com', '--at', '2000-01-01T00:00:00Z'], /executeAt/],
    [['cron', 'preview', '0 0 31 2 *'], /never/],
    [['list', '--api-key', 'bf_wrong'], /401 unauthenticated/],
    [['list', '--url', 'http://127.0.0.1:1'], /got no response/],
  ])('when it is refused or gets no response: %j', async (args, message) => {
    const ended = await cli(args)
    expect([ended.code, ended.out]).toEqual([1, ''])
    expect(ended.error).toMatch(message)
  })
})
