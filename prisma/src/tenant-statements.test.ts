import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

// A database that distributes rows by tenant sends a statement to one server only if it names the tenant. Those that do not
// are listed here with the reason. docs/scaling.md says why that matters.

/** The tables with rows for each task, attempt or tenant. */
const distributed = [
  ...['tasks', 'task_requests', 'task_labels', 'runs', 'run_changes', 'usage_changes'],
  ...['execution_blocks', 'queues', 'queue_starts', 'idempotency_keys', 'sends'],
]

const reasons = {
  byTask: 'finds tasks of many tenants by their ids, in one statement for a batch',
  scatter: 'searches the work of all tenants on purpose, along a partial index',
  fold: 'takes rows of any tenant from a table that is emptied each second',
  dispatcher: 'belongs to a dispatcher, which works for all tenants',
  part: 'is a part of a statement that names the tenant, or of one in this list',
} as const

const withoutTenant: Record<string, keyof typeof reasons> = {
  'answer-once.ts#forgetIdempotencyKeys': 'scatter',
  'cron-jobs/cancel-missed.ts#cancelStatement': 'scatter',
  'cron-jobs/change-cron-job.ts#cancelUnstarted': 'part',
  'cron-jobs/change-cron-job.ts#changeUnstarted': 'part',
  'cron-jobs/expand-cron-jobs.ts#insertOccurrences': 'byTask',
  'dead-letters/all-dead-letters.ts#deadLetters': 'scatter',
  'dispatchers/end-dispatcher.ts#forgetPublished': 'dispatcher',
  'dispatchers/end-dispatcher.ts#readClaims': 'dispatcher',
  'dispatchers/end-dispatcher.ts#recoverStrays': 'scatter',
  'dispatchers/find-stuck-work.ts#findStuckWork': 'scatter',
  'dispatchers/heartbeat.ts#enterStatement': 'dispatcher',
  'dispatchers/heartbeat.ts#heartbeatsStatement': 'dispatcher',
  'integrations/switch-off-failing.ts#deadEvents': 'part',
  'integrations/switch-off-failing.ts#deadOccurrences': 'part',
  'integrations/update-health.ts#latestState': 'part',
  'integrations/update-health.ts#updateHealth': 'scatter',
  'queues/advance-queues.ts#queuesOf': 'byTask',
  'queues/advance-queues.ts#openQueueSearch': 'scatter',
  'queues/advance-queues.ts#ratedQueues': 'scatter',
  'queues/busiest-queues.ts#busiestQueues': 'scatter',
  'queues/queued-claim.ts#isQueued': 'part',
  'queues/queued-claim.ts#limitedClaim': 'part',
  'queues/queued-claim.ts#returnedStarts': 'part',
  'queues/queues.ts#selectQueues': 'part',
  'run-statistics/fold-run-changes.ts#runChanges': 'fold',
  'run-statistics/fold-run-changes.ts#countedByHost': 'part',
  'run-statistics/fold-run-changes.ts#statement': 'fold',
  'tasks/claim-tasks.ts#claimText': 'byTask',
  'tasks/claim-tasks.ts#ownRefusal': 'part',
  'tasks/explain-claims.ts#unclaimedStatement': 'byTask',
  'tasks/drop-callbacks.ts#dropCallbacks': 'byTask',
  'tasks/due-work.ts#waitingStatement': 'scatter',
  'tasks/end-tasks.ts#statements': 'part',
  'tasks/expire-tasks.ts#overdueTasks': 'scatter',
  'tasks/expire-tasks.ts#givenTasks': 'byTask',
  'tasks/expire-tasks.ts#statement': 'byTask',
  'tasks/late-work.ts#lateHeadStatement': 'scatter',
  'tasks/locate-tasks.ts#locateStatement': 'byTask',
  'tasks/lose-attempts.ts#statement': 'byTask',
  'tasks/measure-backlog.ts#leasesStatement': 'scatter',
  'tasks/quarantine.ts#nextQuarantined': 'scatter',
  'tasks/quarantine.ts#countQuarantined': 'scatter',
  'tasks/record-attempts.ts#recordStatement': 'byTask',
  'tasks/replay-task.ts#copiesOf': 'part',
  'tasks/send-journal.ts#isUnsent': 'part',
  'tasks/send-journal.ts#journalSends': 'dispatcher',
  'tasks/send-journal.ts#trimJournal': 'dispatcher',
  'tasks/startable-tasks.ts#callsStatement': 'scatter',
  'tasks/startable-tasks.ts#groupsOf': 'part',
  'tasks/stored-request.ts#requested': 'part',
  'tasks/task-filter.ts#conditionsOf': 'part',
  'tasks/task-row.ts#ofLastRun': 'part',
  'tasks/task-row.ts#topicOfMoved': 'part',
  'tasks/waiting-floor.ts#mendWaitingFloor': 'scatter',
  'tasks/waiting-floor.ts#raiseStatements': 'scatter',
  'usage/count-storage.ts#changedRequests': 'part',
  'usage/fold-usage-changes.ts#usageChanges': 'fold',
  'virtual-clock/read-due-times.ts#dueTimesStatement': 'scatter',
  'virtual-clock/read-due-times.ts#nextTasks': 'part',
}

it('each statement on rows of tenants names the tenant, or is listed with a reason', () => {
  const units = readUnits()
  expect(units.length).toBeGreaterThan(100)
  const found = units.filter(unit => !namesTenant(unit.text)).map(({ name }) => name)
  expect(found.sort()).toEqual(Object.keys(withoutTenant).sort())
})

it('a statement that touches a row of a tenant by its id alone does not name the tenant', () => {
  expect(namesTenant(`UPDATE tasks SET state = 'dead' WHERE id = $1 RETURNING workspace_id`)).toBe(false)
  expect(namesTenant(`UPDATE tasks SET state = 'dead' WHERE id = $1 AND workspace_id = $2`)).toBe(true)
  expect(namesTenant('INSERT INTO usage_changes (workspace_id, storage_bytes) VALUES ($1, $2)')).toBe(true)
})

const [tables, tenant] = [distributed.join('|'), '(?:workspace_id|organization_id)']
const access = new RegExp(String.raw`\b(FROM|JOIN|INTO|UPDATE|USING)\s+(?:ONLY\s+)?(?:${tables})\b`, 'g')
const isCondition = new RegExp(
  [
    String.raw`\b${tenant}\s*(?:=|IN\b|BETWEEN|IS NOT DISTINCT)`,
    String.raw`=\s*(?:\w+\.)?${tenant}\b`,
    String.raw`\((?:\w+\.)?${tenant}, \w+\)\s*[<>=]`,
    String.raw`USING \((?:\w+, )?${tenant}`,
  ].join('|'),
)

// The row of an insert carries its tenant. Any other access needs a condition.
function namesTenant(text: string): boolean {
  const onlyInserts = [...text.matchAll(access)].every(([, verb]) => verb === 'INTO')
  return onlyInserts ? new RegExp(tenant).test(text) : isCondition.test(text)
}

/** Returns the functions and constants with SQL on these tables. The commands of operators are not on any hot path. */
function readUnits(): Array<{ name: string; text: string }> {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  const sources = files.filter(file => file.endsWith('.ts') && !/\.test\.ts$|^(generated|migrate)\//.test(file))
  return sources.flatMap(file => {
    const source = readFileSync(join(import.meta.dirname, file), 'utf8').replace(/^\s*(\/\/|\*|\/\*\*).*$/gm, '')
    return source
      .split(/^(?=(?:export )?(?:async )?(?:function\*?|const) \w+)/m)
      .filter(text => text.search(access) !== -1)
      .map(text => ({ name: `${file}#${/(?:function\*?|const) (\w+)/.exec(text)?.[1]}`, text }))
  })
}
