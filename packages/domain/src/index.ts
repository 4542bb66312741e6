export {
  type Cidr,
  classifyAddress,
  formatCidr,
  hostIsVisiblyBlocked,
  isWithin,
  networkOf,
  networksOf,
  parseCidrs,
} from './address.ts'
export { type AlertChannel, type AlertEvent, alertChannels, alertEvents, nextAlertPause } from './alerts.ts'
export { AppError, type AppErrorCode, appErrorCodes, type FieldError } from './app-error.ts'
export { type AccountAction, type AuditAction, accountActions, auditActions } from './audit-action.ts'
export { type ClaimConditions, checkConditions, conditionLimits, unmetCondition } from './claim-conditions.ts'
export { type CronSchedule, countOccurrences, nextRuns, nextScheduled } from './cron/cron-schedule.ts'
export { describeCron } from './cron/describe-cron.ts'
export { cronHorizonYears, type Occurrence } from './cron/next-occurrence.ts'
export { parseCron } from './cron/parse-cron.ts'
export {
  type CatchUp,
  catchUps,
  type OccurrencePlan,
  type Overlap,
  overlaps,
  planOccurrences,
} from './cron/plan-occurrences.ts'
export { isTimeZone } from './cron/zone-pieces.ts'
export { findUnstorable } from './find-unstorable.ts'
export { fromId, type IdKind, NIL_UUID, newUuid, timeOfUuid, toId } from './id.ts'
export { inspectJson, type JsonLimits } from './inspect-json.ts'
export { parseInstant, writeInstant } from './instant.ts'
export { elementTexts, memberText } from './member-text.ts'
export { nearestName } from './nearest-name.ts'
export { type AttemptOutcome, askedDelayMs, type EndedAttempt, type NextAttempt, nextAttempt } from './next-attempt.ts'
export { hostOf, parseUrl } from './parse-url.ts'
export {
  type Action,
  type ActionIn,
  type Actor,
  type Decision,
  decide,
  flagName,
  isWideKey,
  keyRights,
  keyScopes,
  lowerWorkspaceRole,
  mayGrant,
  type Policy,
  type PolicyFlag,
  policyFlags,
  type Role,
  rights,
  rightsOfScopes,
  roles,
  scopesOfKeyBy,
  type WorkspaceRole,
  workspaceRoles,
} from './permissions.ts'
export { nextMessageAttempt } from './qstash/next-message-attempt.ts'
export type { QstashCallback, QstashFields, QstashFlowControl } from './qstash/qstash-fields.ts'
export {
  billingPeriod,
  exhaustedQuotas,
  type QuotaResource,
  type QuotaThreshold,
  quotaThresholds,
} from './quota.ts'
export { requestBody } from './request-body.ts'
export { findHeaderProblems } from './request-headers.ts'
export { type Backoff, backoffs, type RetryPolicy, retryDefaults } from './retry.ts'
export type { RunTimings } from './run-timings.ts'
export { isAllowedHost, readHostPattern } from './secrets/allowed-hosts.ts'
export { fillSecretsInJson, fillSecretsInUrl, secretNamesInJson } from './secrets/fill-secrets.ts'
export { createRedactor, type Redactor, type Secret } from './secrets/redact.ts'
export {
  findBrokenReference,
  isSecretName,
  replaceReferences,
  secretNames,
  secretReference,
} from './secrets/secret-reference.ts'
export { checkSecretValue, secretValuePattern } from './secrets/secret-value.ts'
export { checkTargetUrl, isBlockedPort, originOfUrl } from './target-url.ts'
export {
  type StateReason,
  stateReasons,
  type TaskState,
  taskStates,
  terminalStates,
} from './task-state.ts'
export {
  defaultTiers,
  figureNames,
  parseTiers,
  presentLimit,
  type TierLimits,
  type TierName,
  type Tiers,
  tierNames,
} from './tiers.ts'
export { isTopic, isTopicPattern, patternsOf } from './topic.ts'
export { readTraceparent } from './traceparent.ts'
export { version } from './version.ts'
export { lateMs, type WaitReason, waitReasons } from './wait-reason.ts'
