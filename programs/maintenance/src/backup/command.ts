import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { nextScheduled } from '@belfry/domain/cron/cron-schedule'
import { readInstant } from '@belfry/domain/instant'
import { PlainError } from '@belfry/launcher'
import { createLogger } from '@belfry/runtime'
import { type Command, InvalidArgumentError } from 'commander'
import { readBackupSettings, readInstallation } from '../config.ts'
import { drill } from '../restore/drill.ts'
import { findBackup } from '../restore/find-backup.ts'
import { type RestoreOptions, restore } from '../restore/restore.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { isReadable, prune, sizeOf } from './backup-store.ts'
import { makeBackup } from './make-backup.ts'
import { openStore } from './open-store.ts'

type Output = { json?: boolean }
type BackupOptions = Output & { to?: string; withSecrets?: boolean; keep?: number }
type RestoreFlags = Output & RestoreOptions & { drill?: boolean }

export function addBackup(program: Command): void {
  const backup = program.command('backup').description('make, list and verify backups')
  backup
    .command('make', { isDefault: true })
    .description('make a backup while the installation runs')
    .option('--to <folder>', 'a folder, or s3://bucket/prefix (default: $BACKUP_FOLDER, else backups in DATA_DIR)')
    .option('--with-secrets', 'also copy the keys of npm start, which open the stored secrets')
    .option('--keep <count>', 'then delete all but this many backups', parseCount)
    .option('--json', 'print the manifest as JSON')
    .action(make)
  backup
    .command('list')
    .description('list the complete backups, the newest first')
    .option('--json', 'print JSON')
    .action(list)
  backup
    .command('verify')
    .argument('[backup]', 'a folder, a name, s3://bucket/prefix/name, or latest', 'latest')
    .description('restore a backup into a temporary database and check it')
    .option('--json', 'print JSON')
    .action((name: string, options: Output) => verify(name, options))
  backup
    .command('schedule')
    .description('make backups at the times of $BACKUP_SCHEDULE until stopped; npm start does it by itself')
    .action(runSchedule)
  program
    .command('restore')
    .argument('<backup>', 'a folder, a name, s3://bucket/prefix/name, or latest')
    .description('restore a backup into a stopped installation, and hold tasks that may have been delivered since')
    .option('--drill', 'only into a temporary database, and check it')
    .option('--until <time>', 'also hold tasks that are due before this time', checkTime)
    .option('--no-hold', 'hold nothing: overdue tasks start at once')
    .option('--without-secrets', 'restore although the encryption keys are lost')
    .option('--json', 'with --drill: print JSON')
    .action(runRestore)
}

async function make({ to, withSecrets = false, keep, json }: BackupOptions): Promise<void> {
  const installation = readInstallation()
  const settings = readBackupSettings(installation, to)
  const { name, store, manifest } = await makeBackup(installation, settings, withSecrets)
  const deleted = keep === undefined ? [] : await prune(store, keep)
  if (json) return write(JSON.stringify({ name, place: store.place, deleted, ...manifest }))
  write(`${name} in ${store.place}: ${megabytes(sizeOf(manifest))}, ${manifest.rows.tasks} tasks`)
  for (const old of deleted) write(`deleted ${old}`)
  if (!manifest.hasSecrets) write('ENCRYPTION_KEYS is not in it: keep it elsewhere, or stored secrets are lost.')
}

function parseCount(text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count > 0) return count
  throw new InvalidArgumentError('Use a whole number of at least 1.')
}

// Before the restore, after which the database would stay with tasks that are not held.
function checkTime(text: string): string {
  const read = readInstant(text)
  if ('must' in read) throw new InvalidArgumentError(`It must ${read.must}.`)
  return text
}

async function list({ json }: Output): Promise<void> {
  for (const backup of await openStore(readBackupSettings(readInstallation())).list()) {
    if (!isReadable(backup)) {
      write(json ? JSON.stringify(backup) : `${backup.name}  cannot be read: ${backup.problem}`)
      continue
    }
    const { name, manifest } = backup
    const bytes = sizeOf(manifest)
    if (json) write(JSON.stringify({ name, bytes, ...manifest }))
    else write(`${name}  ${megabytes(bytes)}  Belfry ${manifest.version}  ${manifest.rows.tasks} tasks`)
  }
}

const workFolder = join(tmpdir(), 'belfry-restore-')

async function verify(wanted: string, { json }: Output): Promise<void> {
  await using work = await temporaryFolder(workFolder)
  const installation = readInstallation()
  const folder = await findBackup(installation, wanted, work.path)
  const { problems, notes, rows } = await drill(installation, folder, work.path)
  if (json) write(JSON.stringify({ ok: problems.length === 0, problems, notes, rows }))
  else {
    for (const [table, count] of Object.entries(rows)) write(`${table}  ${count} ${count === 1 ? 'row' : 'rows'}`)
    for (const line of [...notes, ...problems]) write(line)
    write(problems.length === 0 ? 'The backup can be restored.' : 'The backup is NOT usable.')
  }
  process.exitCode = problems.length === 0 ? 0 : 1
}

async function runRestore(wanted: string, flags: RestoreFlags): Promise<void> {
  if (flags.drill) return verify(wanted, flags)
  await using work = await temporaryFolder(workFolder)
  const installation = readInstallation()
  await restore(installation, await findBackup(installation, wanted, work.path), flags, write)
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}

function write(line: string): void {
  process.stdout.write(`${line}\n`)
}

// A timer of Node holds at most 24 days.
const maxSleepMs = 3_600_000

/** Makes a backup at each time of `BACKUP_SCHEDULE`, in UTC, until SIGTERM. Logs failures and continues. */
async function runSchedule(): Promise<void> {
  const settings = readBackupSettings(readInstallation())
  const { schedule } = settings
  if (schedule === null) throw new PlainError('BACKUP_SCHEDULE is not set: a cron expression such as 0 3 * * *.')
  const log = createLogger('backup', 'info')
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort())
  // The launcher was killed.
  process.once('disconnect', () => stop.abort())
  process.send?.('ready')
  while (!stop.signal.aborted) {
    const next = nextScheduled(schedule, Date.now())
    if (next === null) break
    log.info({ at: new Date(next.atMs).toISOString() }, 'backup.waiting')
    while (Date.now() < next.atMs && !stop.signal.aborted) {
      const pauseMs = Math.min(next.atMs - Date.now(), maxSleepMs)
      await sleep(pauseMs, undefined, { signal: stop.signal }).catch(() => {}) // stopped while waiting
    }
    if (stop.signal.aborted) break
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
