import { fromId, toId } from '@belfry/domain/id'
import { propertyRuns } from '@belfry/test-support/property-runs'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { inMs } from '../api-calls.ts'
import { useStage } from './stage.ts'

/** A list of the dashboard, and the SQL of its rows. `$1` is the workspace, or else the organization. */
type List = {
  path: string
  /** The accessible name of the table. */
  table: string
  /** The header of the column that names a row. */
  column: string
  /** The rows, with their `name` and `id`. */
  from: string
  /** Default: the newest first. */
  order?: string
  /** The order of a list that is loaded whole. Default: the same. */
  wholeOrder?: string
  isOfOrganization?: boolean
  /** The condition of each filter, by the query of the page. */
  filters: Readonly<Record<string, string> & { '': string }>
  /** The SQL of each header that sorts. */
  sorts?: Readonly<Record<string, string>>
}

const ofWorkspace = (table: string) => `(SELECT * FROM ${table} WHERE workspace_id = $1) rows`
const upcoming = `source = 'cron' AND state = 'pending' AND execute_at > now()`
const isDead = `state = 'dead' AND settled_at IS NULL`

const lists: readonly List[] = [
  {
    path: '/tasks',
    table: 'Tasks',
    column: 'Name',
    from: '(SELECT t.*, r.name, r.queue FROM tasks t JOIN task_requests r ON r.task_id = t.id WHERE t.workspace_id = $1) rows',
    filters: {
      '': `NOT (${upcoming})`,
      '?occurrences=upcoming': 'true',
      '?state=pending': `state = 'pending'`,
      '?state=dead&state=success': `state IN ('dead', 'success')`,
      '?source=event': `source = 'event'`,
      '?name=task%2000': `name LIKE 'task 00%' AND NOT (${upcoming})`,
      '?queue=queue-007': `queue = 'queue-007' AND NOT (${upcoming})`,
      '?to=2020-01-01T00:00:00Z': 'false',
    },
    sorts: { Name: 'name', State: 'state::text', Due: 'execute_at', Runs: 'attempts' },
  },
  {
    path: '/dead-letters',
    table: 'Dead letters',
    column: 'Task',
    from: `(SELECT t.*, r.name, r.url, u.response_status FROM tasks t JOIN task_requests r ON r.task_id = t.id
            JOIN runs u ON u.task_id = t.id WHERE t.workspace_id = $1) rows`,
    filters: {
      '': isDead,
      '?name=task%2000': `${isDead} AND name LIKE 'task 00%'`,
      '?response_status=5xx': `${isDead} AND response_status >= 500`,
      '?error=http_status&response_status=422': `${isDead} AND response_status = 422`,
      '?label=order:1': `${isDead} AND EXISTS (SELECT FROM task_labels l WHERE l.task_id = rows.id)`,
      '?error=timeout': 'false',
    },
    wholeOrder: 'finished_at DESC',
    sorts: { Task: 'name', Target: 'url', Runs: 'attempts', Failed: 'finished_at' },
  },
  {
    path: '/cron-jobs',
    table: 'Cron jobs',
    column: 'Name',
    from: ofWorkspace('cron_jobs'),
    filters: { '': 'true', '?name=job%2000': `name LIKE 'job 00%'`, '?status=paused': 'paused_at IS NOT NULL' },
    sorts: {
      Name: 'name',
      Status: `CASE WHEN paused_at IS NULL THEN 'active' ELSE 'paused' END`,
      'Next run': 'paused_at IS NOT NULL',
    },
  },
  {
    path: '/events',
    table: 'Recent events',
    column: 'Topic',
    from: `(SELECT t.*, r.topic AS name FROM tasks t JOIN task_requests r ON r.task_id = t.id WHERE t.workspace_id = $1) rows`,
    filters: { '': `source = 'event'`, '?topic=orders.1': `source = 'event' AND name = 'orders.1'` },
  },
  {
    path: '/queues',
    table: 'Queues',
    column: 'Queue',
    from: ofWorkspace('queues'),
    order: 'name',
    filters: { '': 'true' },
    sorts: { Waiting: '(SELECT 0)' },
  },
  {
    path: '/subscriptions',
    table: 'Subscriptions',
    column: 'Topic',
    from: '(SELECT *, topic AS name FROM subscriptions WHERE workspace_id = $1) rows',
    filters: { '': 'true' },
  },
  {
    path: '/settings/api-keys',
    table: 'API keys',
    column: 'Name',
    from: ofWorkspace('api_keys'),
    filters: { '': 'true' },
  },
  {
    path: '/settings/secrets',
    table: 'Secrets',
    column: 'Name',
    from: ofWorkspace('secrets'),
    order: 'name',
    filters: { '': 'true' },
  },
  {
    path: '/settings/connections',
    table: 'Connections',
    column: 'Name',
    from: ofWorkspace('connections'),
    order: 'name',
    filters: { '': 'true' },
  },
  {
    path: '/settings/audit-log',
    isOfOrganization: true,
    table: 'Audit log',
    column: 'Object',
    from: '(SELECT *, object_id AS name FROM audit_log WHERE organization_id = $1) rows',
    filters: {
      '': 'true',
      '?object_id=object-07': `object_id = 'object-07'`,
      '?group=secret': `action LIKE 'secret.%'`,
    },
  },
]

const some = <Item>(items: readonly Item[], count: number) => items.slice(0, propertyRuns(items.length, count))

describe('each list with three pages of rows', { timeout: 300_000 }, () => {
  const stage = useStage()
  let ids: [workspace: string, organization: string]

  beforeAll(async () => {
    const { caller } = stage.belfry
    ids = [fromId('ws', caller.workspaceId ?? '') ?? '', fromId('org', caller.organizationId ?? '') ?? '']
    await fillWorkspace()
  }, 120_000)

  // One page visits all lists, because to load a page takes five times the CPU time of a navigation. `npm test` tries two
  // filters and one order of each list, `npm run test:all` all of them.
  it('shows, filters and sorts what SQL does', async () => {
    const page = await stage.ownerPage()
    await page.goto(await stage.home())
    for (const list of lists) {
      for (const [query, condition] of some(Object.entries(list.filters), 2))
        await compareRows(page, list, query, condition)
      await compareOrders(page, list)
    }
  })

  const compareRows = async (page: Page, list: List, query: string, condition: string) => {
    const message = `${list.table}${query}`
    const order = list.order ?? 'id DESC'
    const expected = await read(list, condition, order)
    const whole = await read(list, condition, list.wholeOrder ?? order)
    await navigate(page, list, query)
    if (expected.length === 0) return tableOf(page, list).waitFor({ state: 'detached' })
    await vi.waitFor(async () => {
      const first = await names(page, list)
      expect(first.length, message).toBeGreaterThan(0)
      expect(first, message).toEqual(first.length < expected.length ? expected.slice(0, first.length) : whole)
    }, 20_000)
    if (await moreButton(page).isVisible())
      expect(await sortButtons(page, list).count(), 'a part of a list is not sorted').toBe(0)
    expect(await shown(page, list, whole.length), message).toEqual(whole)
    expect(await sortButtons(page, list).allTextContents(), message).toEqual(Object.keys(list.sorts ?? {}))
  }

  /** Last, because a list keeps its order while its filter changes. */
  const compareOrders = async (page: Page, list: List) => {
    if (list.sorts) await compareRows(page, list, '', list.filters[''])
    for (const [header, sql] of some(Object.entries(list.sorts ?? {}), 1)) {
      for (const direction of ['ascending', 'descending'] as const) {
        await sortTo(page, list, header, direction)
        const order = `${sql} ${direction === 'ascending' ? 'ASC' : 'DESC'}, ${list.order ?? 'id DESC'}`
        const sorted = await read(list, list.filters[''], order)
        const message = `${list.table} by ${header} ${direction}`
        await expect.poll(() => names(page, list), { message }).toEqual(sorted)
      }
    }
  }

  it('the counts of hidden and of cancelled tasks are those of SQL', async () => {
    const page = await stage.ownerPage()
    const count = async (condition: string) => (await read(lists[0] as List, condition, 'id')).length
    await page.goto(`${await stage.home()}/tasks?name=task%2000`)
    const hidden = await count(`name LIKE 'task 00%' AND ${upcoming}`)
    await page.getByText(`${hidden} upcoming occurrences of cron jobs not shown.`).waitFor()
    await page.getByRole('button', { name: 'Cancel matching pending tasks' }).click()
    const pending = await count(`name LIKE 'task 00%' AND state = 'pending' AND NOT (${upcoming})`)
    await page.getByRole('heading', { name: `Cancel ${pending} pending tasks?` }).waitFor()
  })

  it('the log leads to the dead letters with its filter, and says that it drops the time', async () => {
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/log?status=failed&response_status=422&range=24h`)
    await page.getByRole('link', { name: 'Dead letters of any time' }).click()
    await page.getByRole('button', { name: 'Response: 422' }).waitFor()
    const list = lists[1] as List
    const expected = await read(list, `${isDead} AND response_status = 422`, 'finished_at DESC')
    await tableOf(page, list)
      .getByRole('link', { name: expected[0] ?? '', exact: true })
      .waitFor()
    expect(await shown(page, list, expected.length)).toEqual(expected)
    await page.getByRole('button', { name: 'Replay all matching' }).click()
    await page.getByRole('heading', { name: `Replay ${expected.length} dead letters?` }).waitFor()
  })

  it.each([
    ['?late_ms=60000', `started_at - scheduled_at >= interval '1 minute'`],
    ['?label=order:1', 'task_id IN (SELECT task_id FROM task_labels l WHERE l.workspace_id = $1)'],
  ])('the log %s has the runs of SQL', async (query, condition) => {
    const text = `SELECT count(*)::int AS count FROM runs WHERE workspace_id = $1 AND ${condition}`
    const [row] = await stage.belfry.execute(text, [ids[0]])
    expect(row?.count).toBeGreaterThan(5)
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/log${query}`)
    await page.getByText(`${row?.count} runs · end of log`).waitFor()
  })

  it('a cron job beyond the first page is found by its name, and filters', async () => {
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/tasks`)
    await page.getByRole('combobox', { name: 'Cron job' }).fill('job 001')
    await page.locator('option[value="job 001"]').waitFor({ state: 'attached' })
    await page.getByRole('combobox', { name: 'Cron job' }).press('Enter')
    const [{ id }] = (await stage.belfry.execute(
      "SELECT id FROM cron_jobs WHERE name = 'job 001' AND workspace_id = $1",
      [ids[0]],
    )) as [{ id: string }]
    await page.waitForURL(`**/tasks?cronjob_id=${toId('cron', id)}`)
    await page.getByText('Cron job job 001').waitFor()
  })

  it('a row is a link from end to end, for each button of the mouse and the keyboard', async () => {
    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/queues`)
    const row = page.getByRole('region', { name: 'Queues' }).getByRole('row').filter({ hasText: 'queue-007' })
    const link = row.getByRole('link')
    await link.waitFor()
    const box = await row.getByRole('cell').nth(3).boundingBox()
    const end = [(box?.x ?? 0) + 5, (box?.y ?? 0) + 5] as const
    const opened = page.context().waitForEvent('page')
    await page.mouse.click(...end, { button: 'middle' })
    await (await opened).waitForURL('**/tasks?queue=queue-007')
    await link.press('Enter')
    await page.waitForURL('**/tasks?queue=queue-007')
    await page.goBack()
    await link.waitFor()
    await page.mouse.click(...end)
    await page.waitForURL('**/tasks?queue=queue-007')
  })

  it('a list that cannot be read shows its error alone', async () => {
    const page = await stage.ownerPage({ expected: /500/ })
    await page.route('**/api/v1/scheduler/cronjobs', route => route.fulfill({ status: 500, json: {} }))
    await page.goto(`${await stage.home()}/cron-jobs`)
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    expect(await page.locator('table').count(), 'a table would look as if it were loading').toBe(0)
  })

  const read = async ({ from, isOfOrganization }: List, condition: string, order: string): Promise<string[]> => {
    const text = `SELECT name FROM ${from} WHERE ${condition} ORDER BY ${order}`
    const rows = await stage.belfry.execute(text, [ids[isOfOrganization ? 1 : 0]])
    return rows.map(({ name }) => String(name))
  }

  const tableOf = (page: Page, list: List) => page.getByRole('region', { name: list.table, exact: true })
  const sortButtons = (page: Page, list: List) => tableOf(page, list).getByRole('columnheader').getByRole('button')
  const moreButton = (page: Page) => page.getByRole('button', { name: 'Load more' })

  /** Goes to a list as a link of the page does, without loading the page. */
  const navigate = async (page: Page, { isOfOrganization, path }: List, query: string) => {
    const home = await stage.home()
    await page.evaluate(
      to => {
        history.pushState(null, '', to)
        dispatchEvent(new PopStateEvent('popstate'))
      },
      (isOfOrganization ? home.replace(/\/w\/.*/, '') : home) + path + query,
    )
  }

  /** Loads the whole list, and returns the names of its rows. */
  const shown = async (page: Page, list: List, count: number): Promise<string[]> => {
    if (count === 0) return []
    for (;;) {
      const more = moreButton(page)
      const before = (await names(page, list)).length
      if (before >= count || !(await more.isVisible())) return names(page, list)
      await more.click()
      await expect.poll(async () => (await names(page, list)).length, { timeout: 20_000 }).toBeGreaterThan(before)
    }
  }

  const names = (page: Page, { table, column }: List): Promise<string[]> =>
    page.evaluate(
      ([table, column]) => {
        const region = document.querySelector(`section[aria-label="${table}"]`)
        const headers = [...(region?.querySelectorAll('th') ?? [])].map(header => header.textContent)
        const rows = [...(region?.querySelectorAll('tbody tr') ?? [])]
        const at = headers.indexOf(column ?? '') + 1
        const cells = rows.map(row => row.querySelector(`td:nth-child(${at})`))
        return cells.map(cell => (cell?.querySelector('a, code') ?? cell)?.textContent ?? '')
      },
      [table, column],
    )

  const sortTo = async (page: Page, list: List, header: string, direction: 'ascending' | 'descending') => {
    const cell = tableOf(page, list).getByRole('columnheader', { name: header, exact: true })
    for (let clicks = 0; clicks < 2 && (await cell.getAttribute('aria-sort')) !== direction; clicks += 1)
      await cell.getByRole('button').click()
    expect(await cell.getAttribute('aria-sort')).toBe(direction)
  }

  async function fillWorkspace(): Promise<void> {
    const { call, caller, execute } = stage.belfry
    const [workspaceId] = ids
    const settings = `/api/v1/workspaces/${caller.workspaceId}`
    const scheduler = '/api/v1/scheduler'
    const target = { method: 'POST', url: stage.receiver.url('/never') }
    const created = await Promise.all([
      call('POST', `${scheduler}/tasks`, { ...target, name: 'task 000', execute_at: inMs(86_400_000) }),
      call('POST', `${scheduler}/cronjobs`, { ...target, name: 'job 000', cron: '0 0 1 1 *' }),
      call('PUT', `${scheduler}/queues/queue-000`, {}),
      call('POST', `${scheduler}/subscriptions`, { topic: 'topic.000', url: target.url }),
      call('PUT', `${settings}/secrets/SECRET_000`, { value: 'a value of it' }),
      call('PUT', `${settings}/connections/name-000`, {
        ...{ kind: 'header', hosts: ['example.com'], header: 'X-Key', value: 'a value of it' },
      }),
    ])
    expect(created.map(({ status }) => status).filter(status => status >= 300)).toEqual([])

    // Copies of the created rows, with names and ids in an order.
    const id = `(substr(uuid_v7_floor(clock_timestamp())::text, 1, 13) || '-7000-a000-' || lpad(to_hex(n), 12, '0'))`
    const numbered = (prefix: string) => `'${prefix}' || lpad(n::text, 3, '0')`
    const copy = (table: string, count: number, changes: string, owner = 'workspace_id', ownerId = workspaceId) =>
      execute(
        `INSERT INTO ${table}
         SELECT (jsonb_populate_record(model, jsonb_build_object('id', ${id}, ${changes}))).*
         FROM ${table} model, generate_series(1, ${count}) AS n
         WHERE model.id = (SELECT id FROM ${table} WHERE ${owner} = $1 ORDER BY id DESC LIMIT 1)`,
        [ownerId],
      )
    await copy('cron_jobs', 70, `'name', ${numbered('job ')}, 'paused_at', CASE WHEN n % 3 = 0 THEN now() END`)
    await copy('queues', 250, `'name', ${numbered('queue-')}`)
    await copy('subscriptions', 70, `'topic', ${numbered('topic.')}`)
    await copy('api_keys', 70, `'name', ${numbered('key ')}, 'hash', '\\x' || md5(${id}) || md5(n::text)`)
    await copy('secrets', 250, `'name', ${numbered('SECRET_')}`)
    await copy('connections', 250, `'name', ${numbered('name-')}`)
    await copy('audit_log', 140, `'object_id', 'object-' || lpad((n % 20)::text, 2, '0')`, 'organization_id', ids[1])

    const taskId = fromId('task', created[0].body.id)
    const cronJobId = fromId('cron', created[1].body.id)
    await execute(
      `WITH rows AS MATERIALIZED (SELECT n, n % 4 AS kind, ${id} AS id FROM generate_series(1, 220) AS n), copied AS (
         INSERT INTO tasks SELECT (jsonb_populate_record(model, jsonb_build_object(
           'id', rows.id, 'attempts', n,
           'state', (ARRAY['pending', 'dead', 'success', 'pending'])[kind + 1],
           'source', (ARRAY['task', 'task', 'event', 'cron'])[kind + 1],
           'event_id', CASE WHEN kind = 2 THEN rows.id END, 'cron_job_id', CASE WHEN kind = 3 THEN $2::text END,
           'execute_at', now() + CASE WHEN kind IN (1, 2) THEN -1 ELSE 1 END * n * interval '1 hour',
           'due_at', now() + n * interval '1 hour',
           'finished_at', CASE WHEN kind IN (1, 2) THEN now() - n * interval '1 minute' END
         ))).* FROM tasks model, rows WHERE model.id = $1
       ), failed AS (
         INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at,
                           error_code, response_status)
         SELECT (substr(id, 1, 14) || '7001' || substr(id, 19))::uuid, (SELECT workspace_id FROM tasks WHERE id = $1), id::uuid, 1,
                'task', 'failed', now() - n * interval '1 second', now(), now(), 'http_status', (ARRAY[500, 503, 422])[n % 3 + 1]
         FROM rows WHERE kind = 1
       ), labelled AS (
         INSERT INTO task_labels (workspace_id, label, task_id)
         SELECT (SELECT workspace_id FROM tasks WHERE id = $1), 'order:1', id::uuid FROM rows WHERE n % 5 = 0
       )
       INSERT INTO task_requests SELECT (jsonb_populate_record(model, jsonb_build_object(
         'task_id', rows.id, 'name', ${numbered('task ')}, 'url', 'https://example.com/' || lpad(n::text, 3, '0'),
         'queue', 'queue-' || lpad((n % 9)::text, 3, '0'), 'topic', CASE WHEN kind = 2 THEN 'orders.' || n % 3 END
       ))).* FROM task_requests model, rows WHERE model.task_id = $1`,
      [taskId, cronJobId],
    )
  }
})
