import { findStuckWork } from '@belfry/db/dispatchers/find-stuck-work'
import type { Pool } from '@belfry/db/postgres/pool'
import { countPreparedMonths, countUnpartitionedRuns } from '@belfry/db/retention/run-partitions'
import { measureBacklog } from '@belfry/db/tasks/measure-backlog'
import { type Observation, ok, problem, warning } from '../finding.ts'

const lateSeconds = 15
const veryLateSeconds = 60
const messageSeconds = 600

/** Checks that work moves: finds startable work that is late, and attempts of dead processes. */
export async function checkWork(pool: Pool, isStopped: boolean): Promise<Observation[]> {
  const [backlog, stuck] = await Promise.all([measureBacklog(pool), findStuckWork(pool)])
  const found: Observation[] = []
  if (!isStopped && backlog.oldestStartableSeconds > lateSeconds) {
    const seconds = Math.round(backlog.oldestStartableSeconds)
    const message = `${backlog.startable} tasks that nothing blocks are late, the oldest by ${seconds} s.`
    const advice = 'Check that dispatchers run, then add one or raise DISPATCH_CONCURRENCY: docs/scaling.md.'
    found.push(seconds > veryLateSeconds ? problem(message, advice) : warning(message, advice))
  }
  if (stuck.orphanedAttempts > 0 && !isStopped) {
    const message = `${stuck.orphanedAttempts} attempts belong to dead dispatchers, and no scheduler has ended those.`
    found.push(problem(message, 'Start a scheduler, or look into its log. It repeats these attempts.'))
  } else if (stuck.deadDispatchers > 0 && !isStopped) {
    const message = `${stuck.deadDispatchers} dispatchers died and were not removed.`
    found.push(warning(message, 'Start a scheduler, or look into its log.'))
  }
  const { heldTasks, heldCronJobs, heldOperations } = stuck
  if (heldTasks + heldCronJobs + heldOperations > 0) {
    const message = `${heldTasks} tasks, ${heldCronJobs} cron jobs and ${heldOperations} operations are held since a restore.`
    found.push(warning(message, 'Review them, then run belfry release-held: docs/backup-and-restore.md#held-tasks.'))
  }
  for (const { kind, waiting, oldestSeconds, overdueSeconds } of backlog.outbox) {
    // A webhook that waits for its next attempt is a matter of its owner.
    const seconds = kind === 'mail' ? oldestSeconds : overdueSeconds
    if (seconds <= messageSeconds || isStopped) continue
    const message = `${waiting} messages (${kind}) wait, one for ${Math.round(seconds / 60)} minutes.`
    const advice =
      kind === 'mail'
        ? 'Check SMTP_URL and MAIL_FROM of the dispatchers: docs/mail-and-alerts.md.'
        : 'Check that dispatchers run, and look into their logs for outbox.failed.'
    found.push(warning(message, advice))
  }
  if (stuck.lostMails > 0) {
    const message = `${stuck.lostMails} mails were given up within a day.`
    found.push(warning(message, `The last error was: ${stuck.lastMailError ?? 'unknown'}`))
  }
  if (found.length > 0) return found
  const blocked = backlog.due - backlog.startable
  return [ok(`no work is stuck${blocked > 0 ? `; ${blocked} due tasks wait for their own targets` : ''}`)]
}

/** Checks that the log has partitions for the coming months. */
export async function checkPartitions(pool: Pool): Promise<Observation[]> {
  const [months, unpartitioned] = await Promise.all([countPreparedMonths(pool), countUnpartitionedRuns(pool)])
  const found: Observation[] = []
  const advice = 'The scheduler makes them every six hours. Look into its log for prepare-run-partitions.'
  if (months < 0) found.push(problem('The log of runs has no partition for this month.', advice))
  else if (months === 0) found.push(warning('The log of runs has no partition for next month.', advice))
  if (unpartitioned > 0) {
    const message = `${unpartitioned === 1000 ? '1,000 or more' : unpartitioned} runs are in no partition of a month.`
    found.push(warning(message, 'Retention does not delete them: docs/runbooks.md.'))
  }
  return found.length > 0 ? found : [ok(`the log of runs has partitions for ${months} more months`)]
}
