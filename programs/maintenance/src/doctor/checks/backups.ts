import { nextScheduled } from '@belfry/domain/cron/cron-schedule'
import { openStore } from '../../backup/open-store.ts'
import { type Installation, readBackupSettings } from '../../config.ts'
import { type Observation, ok, problem, warning } from '../finding.ts'

const graceMs = 3_600_000

/** Checks that the scheduled backups are made: at most one of them may be missing. */
export async function checkBackups(installation: Installation, now = Date.now()): Promise<Observation[]> {
  const settings = readBackupSettings(installation)
  const [newest] = await openStore(settings).list()
  const advice = 'Run "belfry backup" to see why it fails, and read logs/backup.log of the data folder.'
  if (!newest) return [warning(`There is no backup in ${settings.folder} yet.`, advice)]
  const { createdAt } = newest.manifest
  const schedule = settings.schedule && { cron: settings.schedule, timezone: 'UTC', startsAt: null, endsAt: null }
  const next = schedule && nextScheduled(schedule, new Date(createdAt).getTime())
  const afterNext = schedule && next && nextScheduled(schedule, next.atMs)
  if (afterNext && now > afterNext.atMs + graceMs) {
    const message = `The newest backup is of ${createdAt}, although BACKUP_SCHEDULE is ${installation.env.BACKUP_SCHEDULE}.`
    return [problem(message, advice)]
  }
  return [ok(`the newest backup is of ${createdAt}; belfry backup verify checks it`)]
}
