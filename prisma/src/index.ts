export { cancelPendingTask, changePendingTask, type MoveResult, type TaskChange } from './change-task.ts'
export { type Claim, type ClaimedTask, type ClaimRequest, claimTasks, leaseMarginMs } from './claim-tasks.ts'
export {
  type CronJobChange,
  type CronJobMove,
  changeCronJob,
  deleteCronJob,
  pauseCronJob,
  resumeCronJob,
} from './cron-jobs/change-cron-job.ts'
export { createCronJob, type NewCronJob } from './cron-jobs/create-cron-job.ts'
export { type CronJobFields, scheduleOf } from './cron-jobs/cron-job.ts'
export { type Expansion, expandCronJobs } from './cron-jobs/expand-cron-jobs.ts'
export { triggerCronJob } from './cron-jobs/trigger-cron-job.ts'
export { type DatabaseClock, openDatabaseClock } from './database-clock.ts'
export {
  type DueRow,
  type PromotionTurn,
  stepPromotionBack,
  type WaitingRow,
  withPromotion,
} from './due-work.ts'
export { type ExpiredLease, expireLeases } from './expire-leases.ts'
export type { Backoff, Role, RunStatus, TaskSource, TaskState } from './generated/enums.ts'
export { type InsertedTask, insertTasks, type NewTask } from './insert-tasks.ts'
export { dueTasksOf, lateWorkspaces } from './late-work.ts'
export { locateTasks, type TaskLocation } from './locate-tasks.ts'
export { isTransientDatabaseError, openPool, type Pool, pingPool, waitForDatabase } from './pool.ts'
export { type PutBack, putBackTask } from './put-back-task.ts'
export { type FinishedAttempt, type RecordedAttempt, recordAttempts } from './record-attempts.ts'
export type { StoredRequest } from './stored-request.ts'
