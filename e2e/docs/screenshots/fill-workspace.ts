import { waitFor } from '@belfry/test-support/wait-for'
import { inMs } from '../../api-calls.ts'
import type { Stage } from '../../dashboard/stage.ts'

/** The address of the target in the pictures; the real target is a receiver on this machine. */
const shop = 'https://shop.example.com'

/** Fills the workspace with a day of a shop: makes real deliveries, then spreads copies of them over 24 hours. */
export async function fillWorkspace({ belfry, receiver }: Stage): Promise<void> {
  const { call } = belfry
  const declined = { error: { code: 'provider_unavailable', message: 'The payment provider does not answer.' } }
  receiver.answer('/billing/charge', { status: 503, body: JSON.stringify(declined) })
  const url = (path: string) => receiver.url(path)

  const cronJobs = [
    { name: 'Nightly report', cron: '30 2 * * *', url: url('/reports/nightly') },
    { name: 'Refresh exchange rates', cron: '15 * * * *', url: url('/rates/refresh') },
    { name: 'Remind of open carts', cron: '0 9,17 * * 1-5', url: url('/carts/remind') },
  ]
  for (const job of cronJobs) {
    const made = await call('POST', '/api/v1/scheduler/cronjobs', { ...job, method: 'POST', timezone: 'Europe/Berlin' })
    await call('POST', `/api/v1/scheduler/cronjobs/${made.body.id}/trigger`)
  }
  for (const path of ['/warehouse', '/mailer']) {
    await call('POST', '/api/v1/scheduler/subscriptions', { topic: 'orders.*', url: url(path) })
  }
  const payload = { order: 1042, total: '129.00', currency: 'EUR' }
  for (const topic of ['orders.paid', 'orders.shipped']) await call('POST', '/api/events', { topic, payload })
  await schedule('Charge subscription', '/billing/charge', 500, { retry: { max_retries: 0 } })
  await schedule('Send receipt', '/mailer/receipt', 500, { payload })
  await schedule('Sync contact', '/crm/contacts', 500)
  for (const minutes of [7, 18, 33, 50, 95, 210, 400]) {
    await schedule(`Trial of customer ${4000 + minutes} ends`, '/trials/end', minutes * 60_000)
  }
  await waitFor(
    () => call('GET', '/api/v1/scheduler/runs?limit=100'),
    answer => answer.body.data.length >= 10,
    120_000,
  )
  await belfry.execute(copyOverTheDay)
  const uncounted = 'SELECT FROM run_changes LIMIT 1'
  await waitFor(
    () => belfry.execute(uncounted),
    rows => rows.length === 0,
    120_000,
  )
  await belfry.execute(`UPDATE users SET name = 'Ada Lovelace'`)
  for (const table of ['task_requests', 'cron_jobs', 'subscriptions']) {
    await belfry.execute(`UPDATE ${table} SET url = replace(url, '${receiver.url('')}', '${shop}')`)
  }

  async function schedule(name: string, path: string, ms: number, more: object = {}) {
    const task = { name, url: url(path), method: 'POST', execute_at: inMs(ms), payload: { customer: 4007 }, ...more }
    await call('POST', '/api/v1/scheduler/tasks', task)
  }
}

// Ids contain their time, as real ones do. The failed delivery has fewer copies.
const copyOverTheDay = `
  CREATE FUNCTION pg_temp.id_at(at timestamptz) RETURNS uuid LANGUAGE sql VOLATILE AS $$
    SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 3)
            || '8' || substr(md5(random()::text), 1, 15))::uuid
  $$;
  CREATE TEMP TABLE copies AS
    WITH times AS MATERIALIZED (
      SELECT r.id AS run, r.task_id AS task, now() - interval '1 day' * (0.004 + 0.99 * random()) AS at
      FROM runs r, generate_series(1, 40) n
      WHERE r.status = 'success' OR n <= 6
    )
    SELECT *, pg_temp.id_at(at) AS new_run, pg_temp.id_at(at) AS new_task,
           (4 + random() * 90)::int AS took, (1 + random() * 12)::int AS lag
    FROM times;
  INSERT INTO task_requests SELECT (jsonb_populate_record(q, jsonb_build_object('task_id', new_task))).*
    FROM copies JOIN task_requests q ON q.task_id = task;
  INSERT INTO tasks SELECT (jsonb_populate_record(t, jsonb_build_object('id', new_task, 'run_id', new_run, 'execute_at', at,
      'due_at', at, 'created_at', at, 'updated_at', at, 'finished_at', at, 'occurrence_at', null, 'settled_at', null))).*
    FROM copies JOIN tasks t ON t.id = task;
  INSERT INTO runs SELECT (jsonb_populate_record(r, jsonb_build_object('id', new_run, 'task_id', new_task, 'scheduled_at', at,
      'started_at', at + lag * interval '1 ms', 'finished_at', at + (lag + took) * interval '1 ms'))).*
    FROM copies JOIN runs r ON r.id = run;
  DELETE FROM runs WHERE id IN (SELECT run FROM copies);
  DELETE FROM tasks WHERE id IN (SELECT task FROM copies);`
