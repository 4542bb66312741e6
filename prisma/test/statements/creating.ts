import { answerOnce } from '../../src/answer-once.ts'
import { backfillCronJob } from '../../src/cron-jobs/backfill-cron-job.ts'
import { triggerCronJob } from '../../src/cron-jobs/change-cron-job.ts'
import { expandCronJobs } from '../../src/cron-jobs/expand-cron-jobs.ts'
import { settleDeadLetters } from '../../src/dead-letters/settle-dead-letters.ts'
import { insertKeyedTasks } from '../../src/tasks/insert-keyed-tasks.ts'
import { insertTasks } from '../../src/tasks/insert-tasks.ts'
import { replayTask } from '../../src/tasks/replay-task.ts'
import { storeUnderKeys } from '../../src/tasks/store-under-key.ts'
import { answer, clock, cronJob, hourMs, id, request, task } from './inputs.ts'
import type { SendingFunction } from './sending-function.ts'

/** The functions that store tasks. */
export const creatingFunctions: SendingFunction[] = [
  {
    by: insertTasks,
    call: db => insertTasks(db, [task]),
    sends: { insert_tasks: 'Stores tasks and their requests. Leaves out a task whose time has come.' },
  },
  {
    by: insertTasks,
    call: db => insertTasks(db, [{ ...task, key: '' }]),
    sends: {
      insert_controlled_tasks: 'Stores tasks of which one or more have a deadline, a key, labels or a connection.',
    },
  },
  {
    by: insertKeyedTasks,
    call: db => insertKeyedTasks(db, [{ task, request, answer }], ''),
    sends: { insert_keyed_tasks: 'Stores tasks together with the responses to their Idempotency-Keys.' },
  },
  {
    by: answerOnce,
    call: db => answerOnce(db, request, async () => answer),
    answers: { lock_key: [{ taken: true }], keep_answer: [{}] },
    sends: {
      lock_key: 'Locks an Idempotency-Key until the end of the transaction, unless another request has it.',
      find_answer: 'Reads the stored response of an Idempotency-Key.',
      keep_answer: 'Stores the response of an Idempotency-Key.',
    },
  },
  {
    by: expandCronJobs,
    call: db => expandCronJobs(db, { lookAheadMs: hourMs, limit: 1 }),
    answers: { ...clock, due_cron_jobs: [cronJob] },
    sends: {
      due_cron_jobs: 'Locks the cron jobs with an occurrence in the look-ahead that no other scheduler has locked.',
      insert_occurrences: 'Stores occurrences as tasks, each exactly once.',
      move_cron_cursors: 'Moves cron jobs to their next occurrences, in the transaction that stores the earlier ones.',
    },
  },
  {
    by: storeUnderKeys,
    call: db => storeUnderKeys(db, id, [{ ...task, key: '' }]),
    answers: { insert_controlled_tasks: [{}] },
    sends: {
      lock_task_keys: 'Locks keys of tasks until the end of the transaction.',
      find_tasks_by_key: 'Finds the pending tasks that have keys.',
    },
  },
  {
    by: triggerCronJob,
    call: db => triggerCronJob(db, id, id),
    sends: { trigger_cron_job: 'Stores a task of a cron job that is due now.' },
  },
  {
    by: backfillCronJob,
    call: db => backfillCronJob(db, id, id, { times: [new Date()], perSecond: 1 }),
    answers: { 'FOR UPDATE': [{}], clock_timestamp: [{ now: new Date() }] },
    sends: { backfill_cron_job: 'Stores a task for each past occurrence of a cron job that has none.' },
  },
  {
    by: replayTask,
    call: db => replayTask(db, id, id),
    sends: { replay_task: 'Copies a finished task as a new one, and settles it if it is a dead letter.' },
  },
  {
    by: settleDeadLetters,
    call: db => settleDeadLetters(db, id, [id], 'replay'),
    sends: { settle_dead_letters: 'Replays or discards dead letters, each once.' },
  },
]
