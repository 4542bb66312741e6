import type { Bench } from '../bench/bench.ts'
import { uuidOf } from '../bench/task-uuid.ts'
import type { Move, StoredRun, StoredTask, Story } from './story.ts'

/** Reads all three sources of a bench. */
export async function readStory(bench: Bench): Promise<Story> {
  const { offset, now } = await readClock(bench)
  const hits = bench.target.hits(offset)
  const ms = (column: string) => `extract(epoch FROM ${column})::float8 * 1000`
  const tasks = await bench.sql<StoredTask>(
    `SELECT id, state, attempts, max_retries AS "maxRetries", ${ms('execute_at')} AS "executeAt", ${ms('due_at')} AS "dueAt"
     FROM tasks JOIN task_requests ON task_id = id`,
  )
  const runs = await bench.sql<StoredRun>(
    `SELECT id, task_id AS "taskId", attempt, status, ${ms('scheduled_at')} AS "scheduledAt", ${ms('started_at')} AS "startedAt",
            ${ms('finished_at')} AS "finishedAt", response_status AS "responseStatus", error_code AS "errorCode"
     FROM runs ORDER BY task_id, attempt`,
  )
  const moves = await bench.sql<Move>(
    `SELECT task_id AS "taskId", from_state AS from, to_state AS to, attempts, ${ms('at')} AS at
     FROM bench.transitions ORDER BY id`,
  )
  return {
    accepted: bench.creates.flatMap(({ id, executeAt }) => (id === null ? [] : [{ id: uuidOf(id), executeAt }])),
    cancelled: bench.cancels.flatMap(({ id, status }) => (status === 200 || status === 204 ? [uuidOf(id)] : [])),
    hits: hits.map(hit => ({ ...hit, taskId: uuidOf(hit.taskId), runId: uuidOf(hit.runId) })),
    tasks,
    runs,
    moves,
    now,
  }
}

// From this process's monotonic clock, which the target stamps its calls with, to the database's: as of the question
// that was answered fastest.
async function readClock(bench: Bench): Promise<{ offset: number; now: number }> {
  let best = { roundTrip: Number.POSITIVE_INFINITY, offset: 0, now: 0 }
  for (let i = 0; i < 5; i++) {
    const asked = performance.now()
    const [row] = await bench.sql<{ ms: number }>('SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms')
    const answered = performance.now()
    if (!row) throw new Error('The database has a clock.')
    if (answered - asked < best.roundTrip)
      best = { roundTrip: answered - asked, offset: row.ms - (asked + answered) / 2, now: row.ms }
  }
  return best
}
