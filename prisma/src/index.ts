export { type AccountEntry, recordAccountEntry } from './account-log.ts'
export {
  answerOnce,
  forgetIdempotencyKeys,
  type KeptAnswer,
  type KeyedRequest,
} from './answer-once.ts'
export {
  type AnyTransaction,
  type AuditRow,
  insertAuditEntry,
  presentAuditEntry,
  presentOperatorEntry,
  selectAuditEntries,
} from './audit-log.ts'
export {
  type AuditStream,
  deleteAuditStream,
  openAuditStream,
  putAuditStream,
  readAuditStream,
  rotateAuditStreamSecret,
} from './audit-streams/audit-streams.ts'
export { measureWaitingAuditEntries } from './audit-streams/measure-waiting-entries.ts'
export {
  auditBatch,
  closeUnusedAuditFile,
  dropUnstreamedEntries,
  openAuditFile,
  sendAuditEntries,
  writeAuditEntries,
} from './audit-streams/take-entries.ts'
export {
  type BillingAccount,
  type BillingState,
  endGracePeriods,
  lockBillingAccount,
  lockBillingAccountOf,
  readBillingAccount,
  recordBillingEvent,
  storeBillingAccount,
} from './billing/billing-accounts.ts'
export {
  type ConnectionTest,
  type ConnectionTestOutcome,
  finishConnectionTest,
  readConnectionTest,
  requestConnectionTest,
  takeConnectionTest,
} from './connections/connection-tests.ts'
export {
  readConnectionToken,
  releaseTokenRefresh,
  type StoredToken,
  storeConnectionToken,
  takeTokenRefresh,
} from './connections/connection-tokens.ts'
export {
  type ConnectionEntry,
  type ConnectionKind,
  type ConnectionSecrets,
  type ConnectionSettings,
  deleteConnection,
  findConnection,
  listConnections,
  type OpenConnection,
  type OpenConnections,
  putConnection,
  readConnections,
} from './connections/connections.ts'
export {
  type IdentityKey,
  listIdentityKeys,
  readIdentityKey,
  rotateIdentityKeys,
} from './connections/identity-keys.ts'
export {
  type CronJobChange,
  type CronJobMove,
  changeCronJob,
  createCronJob,
  deleteCronJob,
  type NewCronJob,
  pauseCronJob,
  resumeCronJob,
  triggerCronJob,
} from './cron-jobs/change-cron-job.ts'
export { type CronJobFields, scheduleOf } from './cron-jobs/cron-job.ts'
export { expandCronJobs } from './cron-jobs/expand-cron-jobs.ts'
export {
  cancelDeadLetterOperation,
  type DeadLetterOperation,
  findDeadLetterOperation,
  startDeadLetterOperation,
  stepDeadLetterOperation,
} from './dead-letters/dead-letter-operations.ts'
export {
  type DeadLetterFilter,
  findDeadLetters,
  hostOfRequest,
  lastErrorOfTask,
} from './dead-letters/find-dead-letters.ts'
export { settleDeadLetters } from './dead-letters/settle-dead-letters.ts'
export {
  endDispatcher,
  leaveDispatchers,
  recoverStrays,
} from './dispatchers/end-dispatcher.ts'
export { findStuckWork, type StuckWork } from './dispatchers/find-stuck-work.ts'
export {
  type DispatcherRow,
  enterDispatchers,
  type Heartbeat,
  readHeartbeats,
} from './dispatchers/heartbeat.ts'
export {
  claimProbes,
  listOpenCircuits,
  type OpenCircuit,
  type PublishedCircuit,
  publishCircuits,
  requestCircuitReset,
} from './dispatchers/host-circuits.ts'
export { beatScheduler, leaveSchedulers, type ProcessState, readProcessState } from './dispatchers/process-state.ts'
export { readLifetimes } from './dispatchers/read-lifetimes.ts'
export {
  type CredentialOfWorkspace,
  orderIssuerKeys,
  readIssuer,
  storeIssuerKeys,
} from './federation/issuer-keys.ts'
export type {
  DeadLetterAction,
  OutboxKind,
  Role,
  RunStatus,
  TaskSource,
  TaskState,
} from './generated/enums.ts'
export {
  changeIntegration,
  deleteIntegration,
  findIntegration,
  type Integration,
  type IntegrationTarget,
  insertIntegration,
  listIntegrations,
  maxIntegrations,
  openIntegration,
} from './integrations/integrations.ts'
export {
  findQuotaAudience,
  type IntegrationNews,
  type Notified,
  notifyIntegrations,
} from './integrations/notify-integrations.ts'
export {
  abandonPart,
  type DeletablePart,
  forgetPart,
  markOldParts,
  partsToDelete,
} from './log-parts/delete-parts.ts'
export { findParts, hasLogParts, isPartReadable, type LogPart, type PartRange } from './log-parts/find-parts.ts'
export { partsOfDay, restorePart } from './log-parts/restore-part.ts'
export { finishPart, maxPart, type NextPart, readNextPart, startPart } from './log-parts/store-part.ts'
export { findMissingRights, type MissingRights } from './migrate/find-missing-rights.ts'
export { type MigrationHistory, readMigrationHistory } from './migrate/read-history.ts'
export { changeTier, findOwners, type TierChanger } from './organizations/organizations.ts'
export { readTenants, type TenantRow } from './organizations/tenants.ts'
export {
  type BlockedAddress,
  blockAddress,
  confirmIntegration,
  hashAddress,
  listBlockedAddresses,
  type MailBlock,
  readMailBlock,
  unblockAddress,
  unsubscribeAddress,
} from './outbox/mail-blocks.ts'
export {
  addToOutbox,
  endExpiredMessages,
  finishOutboxMessage,
  type MessageTenant,
  postponeOutboxMessage,
  pruneOutbox,
  readOutboxOutcome,
  type TakenOutboxMessage,
  takeFromOutbox,
} from './outbox/outbox.ts'
export { type DatabaseClock, openDatabaseClock } from './postgres/database-clock.ts'
export { isLockTimeout, isStatementTimeout, isTransientDatabaseError } from './postgres/database-errors.ts'
export { urlsOfHosts } from './postgres/database-hosts.ts'
export { type Db, inTransaction, isInTransaction, type Transaction } from './postgres/in-transaction.ts'
export { inspectDatabase } from './postgres/inspect-database.ts'
export { type Listener, listen } from './postgres/listen.ts'
export {
  circuitsChannel,
  connectionTestsChannel,
  dueTaskChannel,
  outboxChannel,
  parseDueNotice,
  tenantsChannel,
} from './postgres/notices.ts'
export { openReplica, preferReplica, type Replica } from './postgres/open-replica.ts'
export { openPool, type Pool, pingPool } from './postgres/pool.ts'
export { findPrimary } from './postgres/primary-client.ts'
export { probeWrite } from './postgres/probe-write.ts'
export { type RetryOptions, retryDatabase, waitForDatabase } from './postgres/retry-database.ts'
export { scopeTo } from './postgres/scope-to.ts'
export { purgeOrganizations } from './purge/purge-organizations.ts'
export { purgeWorkspace, workspacesToPurge } from './purge/purge-workspace.ts'
export { windDownWorkspace, workspacesToWindDown } from './purge/wind-down-workspace.ts'
export { claimMessage, deduplicationMinutes } from './qstash/deduplicate.ts'
export {
  type QstashSigningKeys,
  readQstashSigningKeys,
  rotateQstashSigningKeys,
  setQstashSigningKeys,
} from './qstash/signing-keys.ts'
export { advanceQueues, advanceQueuesOf, advanceRatedQueues, openQueueSearch } from './queues/advance-queues.ts'
export { type BusyQueue, busiestQueues } from './queues/busiest-queues.ts'
export { isBlocked, trueDueAt } from './queues/queue-sql.ts'
export {
  changeQueue,
  deleteQueue,
  findQueue,
  listQueues,
  maxCountedInQueue,
  nameQueue,
  pauseQueue,
  type QueueDeletion,
  type QueueLimits,
  type QueueRow,
} from './queues/queues.ts'
export { divideNextMonth } from './retention/divide-month.ts'
export { dropRunPartitions } from './retention/drop-run-partitions.ts'
export { expireAuditLog, organizationsWithAuditLog } from './retention/expire-audit-log.ts'
export {
  deleteCancelledTasks,
  deleteDeadWithoutRun,
  deleteOldRuns,
  deleteRestoredTasks,
  type KeptLog,
  workspacesWithTasks,
} from './retention/expire-log.ts'
export { forgetExpired } from './retention/forget-expired.ts'
export { keptLogDays } from './retention/month-parts.ts'
export { countPreparedMonths, countUnpartitionedRuns, prepareRunPartitions } from './retention/run-partitions.ts'
export { foldRunChanges } from './run-statistics/fold-run-changes.ts'
export {
  countRuns,
  deleteOldStatistics,
  keptDays,
  type RunCount,
  type RunSpan,
} from './run-statistics/run-statistics.ts'
export { countWrappedKeys, findMasterKeyProblem, rewrapDataKeys, UnreadableSecretError } from './secrets/data-keys.ts'
export { inWorkspace } from './secrets/in-workspace.ts'
export { openWithOwnKey, type SealedWithOwnKey, sealWithOwnKey } from './secrets/own-data-key.ts'
export {
  deleteSecret,
  listSecrets,
  type OpenSecret,
  type OpenSecrets,
  putSecret,
  readSecrets,
  type SecretEntry,
  type WorkspaceSecrets,
} from './secrets/secrets.ts'
export {
  ensureSigningSecret,
  maxSigningSecrets,
  readSigningSecrets,
  readSubscriptionSecrets,
  removeSubscriptionSecrets,
  revokeSigningSecret,
  rotateSigningSecret,
  type SecretOwner,
  type SigningSecret,
} from './secrets/signing-secrets.ts'
export {
  type BoardState,
  type BoardTask,
  countBoardTasks,
  findBoardTasks,
  listBoardTasks,
} from './tasks/board-tasks.ts'
export {
  cancelPendingTask,
  changePendingTask,
  type MoveResult,
  stopRetryingTask,
  type TaskChange,
  untilDecided,
} from './tasks/change-task.ts'
export {
  type Claim,
  type ClaimedTask,
  type ClaimRequest,
  claimFromBlocks,
  claimTasks,
  claimWithTopUp,
  leaseMarginMs,
  type ShortClaim,
  type ShortRequest,
} from './tasks/claim-tasks.ts'
export {
  type DueRow,
  type PromotionRound,
  scheduleOrStepBack,
  stepPromotionBack,
  toDueTask,
  type WaitingRow,
  withPromotion,
} from './tasks/due-work.ts'
export { type EndAction, endedState, endTasks } from './tasks/end-tasks.ts'
export { type ExpiredTask, expireTasks } from './tasks/expire-tasks.ts'
export { insertKeyedTasks, type KeyedTask } from './tasks/insert-keyed-tasks.ts'
export { hasControls, type InsertedTask, insertTasks, type NewTask, type TaskControls } from './tasks/insert-tasks.ts'
export { dueTasksOf, openLateSearch } from './tasks/late-work.ts'
export { locateTasks, type TaskLocation } from './tasks/locate-tasks.ts'
export type { LostAttempt } from './tasks/lose-attempts.ts'
export { measureBacklog } from './tasks/measure-backlog.ts'
export { claimQuarantined, countQuarantined } from './tasks/quarantine.ts'
export { type FinishedAttempt, type RecordedAttempt, recordAttempts } from './tasks/record-attempts.ts'
export { type Replay, replayTask, type TaskOrigin } from './tasks/replay-task.ts'
export { journalSends, trimJournal } from './tasks/send-journal.ts'
export { maxCounted, measureDueWork } from './tasks/startable-tasks.ts'
export { type OnConflict, storeUnderKeys, type TaskUnderKey, type UnderKey } from './tasks/store-under-key.ts'
export type { StoredRequest } from './tasks/stored-request.ts'
export { countMatchingTasks, findMatchingTasks, type TaskFilter } from './tasks/task-filter.ts'
export { hasLabel } from './tasks/task-labels.ts'
export {
  cancelTaskOperation,
  findTaskOperation,
  forgetOperations,
  startTaskOperation,
  stepTaskOperation,
  type TaskOperation,
} from './tasks/task-operations.ts'
export { isDeadLetter, originOf } from './tasks/task-row.ts'
export { isInShare, type TaskShare } from './tasks/task-share.ts'
export { type UnstartedClaim, undoClaims } from './tasks/undo-claims.ts'
export { upcomingTasks } from './tasks/upcoming-tasks.ts'
export { loweredFloor, mendWaitingFloor, raiseWaitingFloor } from './tasks/waiting-floor.ts'
export { clearAttempts, consumeAttempt, refundAttempt, type Throttle } from './throttle.ts'
export { returnUnspentBlocks, usedExecutions } from './usage/execution-blocks.ts'
export { foldUsageChanges } from './usage/fold-usage-changes.ts'
export { announceQuotaCrossings, type QuotaCrossing, recordQuotaCrossings } from './usage/quota-crossings.ts'
export { type CountedInWorkspace, countInWorkspace, readDailyUsage, readUsage, type Usage } from './usage/read-usage.ts'
export { reportUsage } from './usage/report-usage.ts'
export { readTenantShares } from './usage/tenant-shares.ts'
export { installVirtualClock, openVirtualClock } from './virtual-clock/install-virtual-clock.ts'
export { type DueTimes, readDueTimes } from './virtual-clock/read-due-times.ts'
