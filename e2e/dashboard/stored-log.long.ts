import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findObjectStore, type ObjectStore, startObjectStore } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, describe, expect, it } from 'vitest'
import { expectAccessible } from './expect-accessible.ts'
import { useStage } from './stage.ts'
import { takeScreenshots } from './take-screenshots.ts'

const runsInStorage = 130

// `.ci/install` builds the S3 server with Go.
describe.skipIf(findObjectStore() === null)('a log in object storage in the dashboard', { timeout: 180_000 }, () => {
  let folder: string
  let store: ObjectStore
  const stage = useStage({
    env: async () => {
      folder = await mkdtemp(join(tmpdir(), 'belfry-log-'))
      store = await startObjectStore(folder)
      return {
        LOG_HOT_DAYS: '2',
        LOG_STORAGE_URL: `s3://${store.bucket}/log?endpoint=${store.endpoint}`,
        AWS_ACCESS_KEY_ID: store.accessKey,
        AWS_SECRET_ACCESS_KEY: store.secretKey,
      }
    },
    services: ['api', 'dispatcher'],
  })
  afterAll(async () => {
    await store?.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('says at its foot that older runs come from object storage, and shows them', async () => {
    await stage.belfry.execute(`
      WITH made AS (
        SELECT uuid_v7(at) AS id, uuid_v7(at) AS run_id, at, workspaces.id AS ws
        FROM workspaces, (
          SELECT date_trunc('day', now()) - interval '4 days 12 hours' + i * interval '1 s' AS at
          FROM generate_series(1, ${runsInStorage}) i
          UNION ALL
          SELECT now() - i * interval '1 s' FROM generate_series(1, 3) i
        ) times
      ), tasks_made AS (
        INSERT INTO tasks (id, workspace_id, source, state, attempts, execute_at, due_at, run_id, finished_at)
        SELECT id, ws, 'task', 'success', 1, at, at, run_id, at FROM made
      ), requests AS (
        INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
        SELECT id, CASE WHEN at > now() - interval '1 day' THEN 'New' ELSE 'Old' END, 'https://example.com/', 'POST', 0,
               'fixed', 1000, 1000, 1000
        FROM made
      )
      INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at, response_status)
      SELECT run_id, ws, id, 1, 'task', 'success', at, at, at, 200 FROM made`)
    // It moves old days when it starts.
    await stage.belfry.start('scheduler')
    const inPostgres = () => stage.belfry.execute('SELECT id FROM runs')
    await waitFor(inPostgres, rows => rows.length === 3, 60_000)

    const page = await stage.ownerPage()
    await page.goto(`${await stage.home()}/log?range=24h`)
    await page.getByText('3 runs · end of log', { exact: true }).waitFor()
    await page.getByRole('combobox', { name: 'Time', exact: true }).selectOption('30d')
    await page.getByText('Scroll for older runs · from object storage, slower').waitFor()
    await expectAccessible(page, ':slug/w/:ws/log')
    await takeScreenshots(page, 'log-stored')
    const list = page.getByRole('region', { name: 'Runs' })
    await list.evaluate(element => element.scrollTo({ top: element.scrollHeight }))
    await page.getByText(`${runsInStorage + 3} runs · end of log · from object storage, slower`).waitFor()
    await list.evaluate(element => element.scrollTo({ top: element.scrollHeight }))
    await list.getByRole('link', { name: 'Old' }).last().click()
    const run = page.getByRole('region', { name: 'Run', exact: true })
    await run.getByRole('heading', { name: 'Old' }).waitFor()
    await run.getByText('HTTP status 200').waitFor()
    await takeScreenshots(page, 'log-stored-run')
    expect(await inPostgres()).toHaveLength(3)
  })
})
