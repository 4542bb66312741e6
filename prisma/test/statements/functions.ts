import { defaultTiers } from '@belfry/domain/tiers'
import { answerOnce } from '../../src/answer-once.ts'
import { backfillCronJob } from '../../src/cron-jobs/backfill-cron-job.ts'
import { cancelMissed } from '../../src/cron-jobs/cancel-missed.ts'
import { changeCronJob, deleteCronJob, pauseCronJob, triggerCronJob } from '../../src/cron-jobs/change-cron-job.ts'
import { expandCronJobs } from '../../src/cron-jobs/expand-cron-jobs.ts'
import { settleDeadLetters } from '../../src/dead-letters/settle-dead-letters.ts'
import { endDispatcher, recoverStrays } from '../../src/dispatchers/end-dispatcher.ts'
import { holdOverdueTasks, releaseHeldTasks } from '../../src/migrate/held-tasks.ts'
import type { Pool } from '../../src/postgres/pool.ts'
import { purgeWorkspace } from '../../src/purge/purge-workspace.ts'
import { windDownWorkspace } from '../../src/purge/wind-down-workspace.ts'
import { advanceQueues, advanceQueuesOf, advanceRatedQueues, openQueueSearch } from '../../src/queues/advance-queues.ts'
import { deleteOldRuns, deleteTasks } from '../../src/retention/expire-log.ts'
import { cancelPendingTask, changePendingTask, stopRetryingTask } from '../../src/tasks/change-task.ts'
import { claimFromBlocks, claimWithTopUp } from '../../src/tasks/claim-tasks.ts'
import { dropCallbacks } from '../../src/tasks/drop-callbacks.ts'
import { waitingTasks, withPromotion } from '../../src/tasks/due-work.ts'
import { endTasks } from '../../src/tasks/end-tasks.ts'
import { expireTasks } from '../../src/tasks/expire-tasks.ts'
import { insertKeyedTasks } from '../../src/tasks/insert-keyed-tasks.ts'
import { insertTasks } from '../../src/tasks/insert-tasks.ts'
import { dueTasksOf, openLateSearch } from '../../src/tasks/late-work.ts'
import { loseAttempts } from '../../src/tasks/lose-attempts.ts'
import { nextQuarantined } from '../../src/tasks/quarantine.ts'
import { recordAttempts } from '../../src/tasks/record-attempts.ts'
import { replayTask } from '../../src/tasks/replay-task.ts'
import { journalSends } from '../../src/tasks/send-journal.ts'
import { storeUnderKeys } from '../../src/tasks/store-under-key.ts'
import { undoClaims } from '../../src/tasks/undo-claims.ts'
import { mendWaitingFloor, raiseWaitingFloor } from '../../src/tasks/waiting-floor.ts'
import {
  answer,
  attempt,
  claimant,
  clock,
  cronJob,
  everyField,
  hourMs,
  id,
  lockedCronJob,
  now,
  request,
  task,
  toClaim,
} from './inputs.ts'
import type { Answers } from './record-statements.ts'

/** A function of this package that sends statements. */
type SendingFunction = {
  by: { readonly name: string }
  call: (db: Pool) => Promise<unknown>
  /** Default: each statement returns no row. */
  answers?: Answers
  /**
   * What a statement does, by the name of its file. The file has the name of the statement. A statement without a name is
   * found by its text.
   */
  sends: Record<string, string | [does: string, text: RegExp]>
}

/** The functions whose statements `prisma/statements` shows, in the order of the tables in `prisma/README.md`. */
export const functions: SendingFunction[] = [
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
  {
    by: claimFromBlocks,
    call: db => claimFromBlocks(db, claimant, toClaim, defaultTiers),
    sends: {
      claim_tasks: 'Claims due tasks whose queues have no limit.',
      claim_queued_tasks: 'Claims due tasks of queues with limits, and blocks those that have no permit.',
      explain_claims: 'Reads why tasks could not be claimed.',
    },
  },
  {
    by: claimWithTopUp,
    call: db => claimWithTopUp(db, claimant, [{ taskId: id, token: id, organizationId: id }], defaultTiers),
    answers: { lock_budgets: [{ organizationId: id, limit: 1, granted: 1 }] },
    sends: {
      lock_budgets: 'Locks the executions of organizations in this month.',
      take_back_block: 'Takes back what a dispatcher has not spent of its executions.',
      take_back_all_blocks: 'Takes back what all dispatchers have not spent, when too few executions are left.',
      grant_executions: 'Grants a dispatcher new blocks of executions.',
    },
  },
  {
    by: advanceQueues,
    call: db => advanceQueues(db, [id]),
    sends: { advance_queues: 'Makes the next blocked tasks of queues due, as many as may start.' },
  },
  {
    by: advanceQueuesOf,
    call: db => advanceQueuesOf(db, [id]),
    sends: { queues_of_tasks: 'Finds the queues of tasks that have ended or wait again.' },
  },
  {
    by: advanceRatedQueues,
    call: db => advanceRatedQueues(db, 1),
    sends: { rated_queues: 'Finds the queues whose rate limit allows another start.' },
  },
  {
    by: openQueueSearch,
    call: db => openQueueSearch(db)(),
    sends: { search_queues: 'Finds queues that block tasks, page by page: the safety net for lost wake-ups.' },
  },
  {
    by: cancelMissed,
    call: cancelMissed,
    answers: { 'FROM dispatchers': [{ from: now, to: new Date(hourMs) }] },
    sends: {
      read_unplanned: 'Reads the cron jobs whose passed occurrences are not all stored, to count those that will run.',
      cancel_missed: 'Cancels the occurrences of some cron jobs that no dispatcher could start in time.',
    },
  },
  {
    by: expireTasks,
    call: db => expireTasks(db, { limit: 1 }),
    sends: { expire_due_tasks: 'Ends the waiting tasks with the earliest passed deadlines.' },
  },
  {
    by: expireTasks,
    call: db => expireTasks(db, { taskIds: [id] }),
    sends: { expire_tasks: 'Ends those of the given tasks whose deadlines have passed.' },
  },
  {
    by: journalSends,
    call: db => journalSends(db, { dispatcherId: id, session: id, seq: 1, runIds: [id] }),
    sends: {
      journal_sends: 'Writes prefetched claims into the send journal, if the session of the dispatcher is valid.',
    },
  },
  {
    by: undoClaims,
    call: db => undoClaims(db, [{ taskId: id, workspaceId: id, runId: id }]),
    sends: { undo_claims: 'Undoes claims whose attempts never started, and refunds their executions.' },
  },
  {
    by: recordAttempts,
    call: db => recordAttempts(db, [attempt]),
    sends: {
      record_attempts: 'Stores the runs of finished attempts, and moves their tasks.',
      record_late: 'Stores the real outcomes of attempts that count as lost.',
    },
  },
  {
    by: loseAttempts,
    call: db => loseAttempts(db, [{ taskId: id, runId: id }], false),
    sends: { lose_attempts: 'Ends attempts that were lost with their dispatcher.' },
  },
  {
    by: dropCallbacks,
    call: db => dropCallbacks(db, { taskId: id, runId: id }),
    sends: { drop_callbacks: 'Drops the callbacks of a task that PostgreSQL cannot store.' },
  },
  {
    by: endDispatcher,
    call: db => endDispatcher(db, id),
    sends: { lock_claims: ['Locks the claims of a dispatcher that has ended.', /FROM tasks t .* FOR UPDATE/s] },
  },
  {
    by: recoverStrays,
    call: db =>
      recoverStrays(
        db,
        id,
        () => true,
        () => true,
      ),
    sends: { own_claims: 'Reads the claims of a live dispatcher, which compares them with those that it holds.' },
  },
  {
    by: nextQuarantined,
    call: nextQuarantined,
    sends: { next_quarantined: 'Picks one of the oldest due tasks in quarantine, to be claimed alone.' },
  },
  {
    by: cancelPendingTask,
    call: db => cancelPendingTask(db, id, id),
    sends: {
      cancel_pending_task: 'Cancels a task that has not started.',
      task_state: 'Reads why a task could not be moved.',
    },
  },
  {
    by: stopRetryingTask,
    call: db => stopRetryingTask(db, id, id),
    sends: { stop_retrying_task: 'Ends a task that waits for a retry.' },
  },
  {
    by: endTasks,
    call: db => endTasks(db, id, [id], 'cancel'),
    sends: {
      cancel_tasks: 'Cancels those of the given tasks that have not started.',
      cancel_undecided: 'Reads the tasks that a dispatcher has prefetched, whose first attempt may start.',
    },
  },
  {
    by: endTasks,
    call: db => endTasks(db, id, [id], 'stop'),
    sends: {
      stop_tasks: 'Ends those of the given tasks that wait for a retry.',
      stop_undecided: 'Reads the tasks that a dispatcher has prefetched, whose next attempt may start.',
    },
  },
  {
    by: changePendingTask,
    call: db => changePendingTask(db, id, id, everyField),
    sends: { change_pending_task: ['Changes a task that has not started. Here, all of its fields.', /WITH task AS/] },
  },
  {
    by: pauseCronJob,
    call: db => pauseCronJob(db, id, id),
    answers: lockedCronJob,
    sends: {
      lock_cron_job: ['Locks a cron job, so no scheduler expands it.', /FROM cron_jobs WHERE .* FOR UPDATE/],
      cancel_unstarted: ['Cancels the tasks of a cron job that have not started.', /UPDATE tasks/],
      pause_cron_job: ['Pauses a cron job, and voids the tasks whose claim is undone later.', /SET paused_at/],
    },
  },
  {
    by: changeCronJob,
    call: db => changeCronJob(db, id, id, { cron: '1 1 * * *' }, hourMs),
    answers: lockedCronJob,
    sends: {
      cancel_unstarted_occurrences: ['Cancels the occurrences of the old rule that have not started.', /UPDATE tasks/],
      reschedule_cron_job: [
        'Gives a cron job a new rule, and voids the occurrences of the old one.',
        /UPDATE cron_jobs/,
      ],
    },
  },
  {
    by: changeCronJob,
    call: db => changeCronJob(db, id, id, everyField, hourMs),
    answers: lockedCronJob,
    sends: {
      change_unstarted_occurrences: ['Gives the occurrences that have not started a new request.', /WITH task AS/],
    },
  },
  {
    by: deleteCronJob,
    call: db => deleteCronJob(db, id, id),
    answers: lockedCronJob,
    sends: {
      delete_cron_job: ['Deletes a cron job, after its unstarted tasks are cancelled.', /DELETE FROM cron_jobs/],
    },
  },
  {
    by: windDownWorkspace,
    call: db => windDownWorkspace(db, id),
    answers: { isSettled: [{ isSettled: true }] },
    sends: {
      lock_deleted_workspace: ['Locks a deleted workspace, unless another scheduler has it.', /isSettled/],
      cancel_tasks_of_workspace: ['Cancels a batch of the waiting tasks of a deleted workspace.', /UPDATE tasks/],
      mark_wound_down: [
        'Marks a deleted workspace without unfinished tasks, so it can be purged.',
        /UPDATE workspaces/,
      ],
    },
  },
  {
    by: holdOverdueTasks,
    call: db => holdOverdueTasks(db),
    answers: clock,
    sends: {
      hold_tasks: ['Holds the tasks of a restored backup that were due, expired or in flight.', /UPDATE tasks/],
    },
  },
  {
    by: releaseHeldTasks,
    call: db => releaseHeldTasks(db),
    sends: { release_held_tasks: ['Releases held tasks.', /UPDATE tasks/] },
  },
  {
    by: deleteOldRuns,
    call: db => deleteOldRuns(db, id, 1, 1),
    sends: { delete_old_runs: 'Deletes a page of old runs, and the finished tasks whose latest runs they are.' },
  },
  {
    by: deleteTasks,
    call: db => deleteTasks(db, 'cancelled', id, 1, 1),
    sends: { delete_cancelled_tasks: 'Deletes the oldest cancelled tasks.' },
  },
  {
    by: deleteTasks,
    call: db => deleteTasks(db, 'dead_without_run', id, 1, 1),
    sends: { delete_dead_without_run: 'Deletes the oldest dead tasks without a run.' },
  },
  {
    by: purgeWorkspace,
    call: db => purgeWorkspace(db, id, 1),
    answers: { 'SELECT FROM workspaces': [{}] },
    sends: {
      purge_runs: ['Deletes a batch of the runs of a deleted workspace.', /DELETE FROM runs/],
      purge_tasks: ['Deletes a batch of the tasks of a deleted workspace.', /DELETE FROM tasks/],
      purge_workspace: ['Deletes a workspace of which nothing else is left.', /DELETE FROM workspaces/],
    },
  },
  {
    by: withPromotion,
    call: db => withPromotion(db, async () => ({ watermark: now, marker: '' })),
    answers: { 'FROM promotion': [{ watermark: now, marker: '', now }] },
    sends: {
      lock_promotion: ['Locks the promotion, unless another scheduler has it.', /FROM promotion/],
      store_promotion: ['Stores how far the queue has been filled.', /UPDATE promotion/],
    },
  },
  {
    by: waitingTasks,
    call: db => waitingTasks(db, { from: now, until: now }).next(),
    sends: {
      waiting_tasks:
        'Reads a page of the waiting tasks of a window, for the queue, or of one share, for its dispatcher.',
    },
  },
  {
    by: openLateSearch,
    call: db => openLateSearch(db)(0),
    answers: { late_head: Array(1_000).fill({ workspaceId: id, id }) },
    sends: {
      late_head: 'Reads the oldest late tasks.',
      late_workspaces: 'Checks a page of workspaces for a late task, because the oldest ones may all belong to others.',
      suspended_workspaces: 'Reads the suspended workspaces, whose tasks are not late.',
    },
  },
  {
    by: dueTasksOf,
    call: db => dueTasksOf(db, [{ workspaceId: id }], 1),
    sends: { due_tasks_of: 'Reads the oldest due tasks of workspaces.' },
  },
  {
    by: raiseWaitingFloor,
    call: raiseWaitingFloor,
    sends: { raise_waiting_floor: ['Raises the floor to the first waiting task.', /UPDATE waiting_floor/] },
  },
  {
    by: mendWaitingFloor,
    call: mendWaitingFloor,
    sends: { mend_waiting_floor: 'Lowers the floor to waiting work before it.' },
  },
]
