import { waitFor } from '@belfry/test-support/wait-for'
import type { Stage } from './stage.ts'

const deadLetters = '/api/v1/scheduler/dead-letters'

/** Creates dead letters of a topic, as if their target had been down. */
export async function makeDeadLetters(stage: Stage, topic: string, count: number): Promise<void> {
  const { belfry, receiver } = stage
  receiver.answer(`/${topic}`, [
    { status: 500, body: 'down' },
    { status: 200, body: 'up' },
  ])
  await belfry.call('POST', '/api/events', {
    topic,
    payload: {},
    target_url: receiver.url(`/${topic}`),
    retry: { max_retries: 0 },
  })
  await waitFor(
    async () => (await belfry.call('GET', `${deadLetters}?topic=${topic}`)).body.data.length,
    found => found > 0,
  )
  await belfry.execute(`
    WITH model AS (
      SELECT t.workspace_id, r.* FROM tasks t JOIN task_requests r ON r.task_id = t.id
      WHERE r.url = '${receiver.url(`/${topic}`)}' AND t.state = 'dead' LIMIT 1
    ), copied AS (
      INSERT INTO tasks (id, workspace_id, source, state, attempts, execute_at, due_at, finished_at)
      SELECT (substr(uuid_v7_floor(clock_timestamp())::text, 1, 13) || '-7000-a000-' || lpad(to_hex(n), 12, '0'))::uuid,
             model.workspace_id, 'event', 'dead', 1, now(), now(), now()
      FROM model, generate_series(2, ${count}) AS n RETURNING id
    )
    INSERT INTO task_requests (task_id, name, url, method, headers, payload, max_retries, backoff, base_delay_ms,
                               max_delay_ms, timeout_ms, topic)
    SELECT copied.id, name, url, method, headers, payload, max_retries, backoff, base_delay_ms, max_delay_ms,
           timeout_ms, topic
    FROM copied, model`)
}
