import { setTimeout as sleep } from 'node:timers/promises'
import { nextScheduled } from '@belfry/domain/cron/cron-schedule'
import { PlainError } from '@belfry/launcher'
import { createLogger } from '@belfry/runtime'
import { readBackupSettings, readInstallation } from '../config.ts'
import { prune } from './backup-store.ts'
import { makeBackup } from './make-backup.ts'
import { openStore } from './open-store.ts'

// A timer of Node holds at most 24 days.
const maxSleepMs = 3_600_000

/** Makes a backup at each time of `BACKUP_SCHEDULE`, in UTC, until SIGTERM. Logs failures and continues. */
export async function runSchedule(): Promise<void> {
  const settings = readBackupSettings(readInstallation())
  const { schedule: cron } = settings
  if (cron === null) throw new PlainError('BACKUP_SCHEDULE is not set: a cron expression such as 0 3 * * *.')
  const log = createLogger('backup', 'info')
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort())
  // The launcher was killed.
  process.once('disconnect', () => stop.abort())
  process.send?.('ready')
  const schedule = { cron, timezone: 'UTC', startsAt: null, endsAt: null }
  while (!stop.signal.aborted) {
    const next = nextScheduled(schedule, Date.now())
    if (next === null) break
    log.info({ at: new Date(next.atMs).toISOString() }, 'backup.waiting')
    if (!(await sleepUntil(next.atMs, stop.signal))) break
    try {
      // Reads it again: npm start may use another port since.
      const { name, manifest } = await makeBackup(readInstallation(), settings, false)
      const deleted = await prune(openStore(settings), settings.keep)
      log.info({ name, bytes: manifest.files[0]?.bytes, deleted }, 'backup.made')
    } catch (err) {
      log.error({ err, advice: 'Run "belfry backup" to see the same failure.' }, 'backup.failed')
    }
  }
  if (process.connected) process.disconnect()
}

/** Resolves with false when the signal aborts first. */
async function sleepUntil(atMs: number, signal: AbortSignal): Promise<boolean> {
  while (Date.now() < atMs) {
    await sleep(Math.min(atMs - Date.now(), maxSleepMs), undefined, { signal }).catch(() => {})
    if (signal.aborted) return false
  }
  return true
}
