import { open, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { nextScheduled } from '@belfry/domain/cron/cron-schedule'
import { codeOf, reasonOf } from '@belfry/launcher'
import { isReadable, type ListedBackup } from '../../backup/backup-store.ts'
import { openStore } from '../../backup/open-store.ts'
import { type BackupSettings, type Installation, readBackupSettings } from '../../config.ts'
import { type Observation, ok, problem, warning } from '../finding.ts'

const gigabyte = 1024 ** 3

export async function checkDisk(dataDir: string): Promise<Observation[]> {
  const { bsize, bavail, blocks } = await statfs(dataDir)
  return judgeDisk(dataDir, bavail * bsize, blocks * bsize)
}

/** Judges the free space of a disk, in bytes. */
export function judgeDisk(folder: string, free: number, size: number): Observation[] {
  const percent = Math.floor((free / size) * 100)
  const message = `${(free / gigabyte).toFixed(1)} GB (${percent} %) of the disk of ${folder} are free`
  const advice = 'Free space, or move the data folder. A full disk stops PostgreSQL; accepted tasks are kept.'
  if (free < gigabyte / 2 || percent < 2) return [problem(`${message}.`, advice)]
  if (free < 2 * gigabyte || percent < 10) return [warning(`${message}.`, advice)]
  return [ok(message)]
}

const tailBytes = 4 * 1024 * 1024
const maxAgeMs = 24 * 3_600_000
const errorLevel = 50
const shown = 5

/** Counts the errors of the last day at the end of the logs of a data folder. */
export async function checkLogs(dataDir: string): Promise<Observation[]> {
  const [own, postgres] = await Promise.all([
    readTail(join(dataDir, 'logs/belfry.log')),
    readTail(join(dataDir, 'logs/postgres.log')),
  ])
  const counts = new Map<string, number>()
  const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
  for (const { level = 0, time, service, msg } of own) {
    if (level >= errorLevel && isRecent(time)) count(`${service}: ${msg}`)
  }
  for (const { text } of postgres) {
    const [, at, level, message] = serverError.exec(text) ?? []
    if (isRecent(at) && !ofClient.test(text)) count(`postgres: ${level}: ${message}`)
  }
  if (counts.size === 0) return [ok('no errors in the logs of the last day')]
  const top = [...counts].sort((a, b) => b[1] - a[1]).slice(0, shown)
  return top.map(([name, times]) =>
    warning(`${times} times in the log of the last day: ${name}`, `Read the lines in ${join(dataDir, 'logs')}.`),
  )
}

/** A line of a log; the members of Belfry's JSON lines, if it is one. */
export type LogLine = { text: string; level?: number; time?: string; service?: string; msg?: string }

/** Reads the last lines of a log. Returns [] if it does not exist. */
export async function readTail(path: string, bytes = tailBytes): Promise<LogLine[]> {
  try {
    await using file = await open(path)
    const { size } = await file.stat()
    const buffer = Buffer.alloc(Math.min(size, bytes))
    await file.read(buffer, 0, buffer.length, size - buffer.length)
    const lines = buffer.toString().split('\n')
    // The first one may be cut.
    if (size > bytes) lines.shift()
    return lines.filter(Boolean).map(text => ({ text, ...parse(text) }))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

function parse(text: string): Omit<LogLine, 'text'> {
  try {
    const entry: unknown = JSON.parse(text)
    return typeof entry === 'object' && entry !== null ? entry : {}
  } catch {
    return {} // a stack on standard error
  }
}

const serverError = /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \w+).*? (PANIC|FATAL): {2}(.*)/
// Refused clients are FATAL too, but an event of the client.
const ofClient = /terminating connection|shutting down|starting up|authentication failed|does not exist/

function isRecent(time: string | undefined): boolean {
  return Date.now() - new Date(time ?? 0).getTime() < maxAgeMs
}

const graceMs = 3_600_000

/** Checks that backups can be read, and that the scheduled ones are made: at most one of them may be missing. */
export async function checkBackups(installation: Installation): Promise<Observation[]> {
  const settings = readBackupSettings(installation)
  const backups = await openStore(settings).list().catch(reasonOf)
  if (typeof backups === 'string') {
    const advice = 'Check BACKUP_FOLDER, and that the user of Belfry, or its credentials, may read it.'
    return [problem(`The backups in ${settings.folder} cannot be listed: ${backups}`, advice)]
  }
  const unreadable = backups.flatMap(backup => {
    const advice = 'Restore it with the Belfry that made it, or delete it: scheduled backups never delete it.'
    return isReadable(backup) ? [] : [warning(`The backup ${backup.name} cannot be read: ${backup.problem}`, advice)]
  })
  return [...unreadable, judgeNewest(backups, settings)]
}

function judgeNewest(backups: readonly ListedBackup[], { folder, schedule }: BackupSettings): Observation {
  const advice = 'Run "belfry backup" to see why it fails, and read logs/backup.log of the data folder.'
  if (backups.length === 0) return warning(`There is no backup in ${folder} yet.`, advice)
  const newest = backups.find(isReadable)
  if (!newest) return problem(`No backup in ${folder} can be read.`, advice)
  const { createdAt } = newest.manifest
  const next = schedule && nextScheduled(schedule, new Date(createdAt).getTime())
  const afterNext = schedule && next && nextScheduled(schedule, next.atMs)
  if (afterNext && Date.now() > afterNext.atMs + graceMs) {
    return problem(`The newest backup is of ${createdAt}, although BACKUP_SCHEDULE is ${schedule.cron.text}.`, advice)
  }
  if (newest !== backups[0]) return ok(`the newest backup that can be read is of ${createdAt}`)
  return ok(`the newest backup is of ${createdAt}; belfry backup verify checks it`)
}
