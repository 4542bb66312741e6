import { defaultTiers } from '@belfry/domain/tiers'
import { cancelMissed } from '../../src/cron-jobs/cancel-missed.ts'
import { endDispatcher, recoverStrays } from '../../src/dispatchers/end-dispatcher.ts'
import { advanceQueues, advanceRatedQueues, openQueueSearch, queuesOf } from '../../src/queues/advance-queues.ts'
import { claimFromBlocks, claimWithTopUp } from '../../src/tasks/claim-tasks.ts'
import { dropCallbacks } from '../../src/tasks/drop-callbacks.ts'
import { expireTasks } from '../../src/tasks/expire-tasks.ts'
import { loseAttempts } from '../../src/tasks/lose-attempts.ts'
import { nextQuarantined } from '../../src/tasks/quarantine.ts'
import { recordAttempts } from '../../src/tasks/record-attempts.ts'
import { journalSends } from '../../src/tasks/send-journal.ts'
import { undoClaims } from '../../src/tasks/undo-claims.ts'
import { attempt, claimant, hourMs, id, now, toClaim } from './inputs.ts'
import type { SendingFunction } from './sending-function.ts'

/** The functions that claim tasks, and record or lose their attempts. */
export const attemptingFunctions: SendingFunction[] = [
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
    by: queuesOf,
    call: db => queuesOf(db, [id]),
    sends: { queues_of_tasks: 'Finds the queues of tasks that have ended, wait again or are changed.' },
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
    answers: { lock_overdue_tasks: [{ id }] },
    sends: {
      lock_overdue_tasks: 'Locks the waiting tasks with the earliest passed deadlines.',
      expire_tasks: 'Ends locked tasks whose deadlines have passed.',
    },
  },
  {
    by: expireTasks,
    call: db => expireTasks(db, { taskIds: [id] }),
    sends: { lock_expired_tasks: 'Locks those of the given tasks whose deadlines have passed.' },
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
]
