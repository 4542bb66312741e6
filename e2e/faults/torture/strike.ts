import { truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { backUp } from '../../restore/online-backup.ts'
import { migrate, restoreBackup } from '../fixture/backup.ts'
import { readDatabaseClock } from '../fixture/database-clock.ts'
import { type FakedClock, fakeClockOfPostgres } from '../fixture/faked-postgres.ts'
import type { Fixture } from '../fixture/fixture.ts'
import { freeze, lasting } from '../fixture/moments.ts'
import { type Replica, startReplica } from '../fixture/replica.ts'
import { fillDisk, moveToSmallDisk } from '../fixture/small-disk.ts'
import type { Fault, Seat, TorturePlan } from './plan.ts'
import type { Installation } from './seats.ts'

// The scheduler takes a dispatcher for dead after 12 s, and a process that reconnects needs some seconds.
const maxUnnoticedMs = 5_000
/** For so long after its end a fault may keep a process from its work. */
export const recoveryMs = 15_000

/** A fault as it happened, in milliseconds from the start. `until`: infinite while it lasts. */
export type Struck = { fault: Fault; from: number; until: number }

/** What the faults of a plan need, and what they have done. */
export type Stage = {
  fixture: Fixture
  installation: Installation
  /** When the run began, by `performance.now()`. */
  beganAt: number
  struck: Struck[]
  clock: FakedClock | null
  replica: Replica | null
  /** The file that fills PostgreSQL's disk. */
  ballast: string | null
  /** How far PostgreSQL's clock is ahead. */
  aheadMs: number
  backup: Backup | null
  /** The commits that a restore has lost. */
  lostCommits: { from: number; until: number } | null
  /** The tasks that were in flight in the backup. Until their release they are held and use no permit of their queue. */
  heldInFlight: ReadonlySet<string>
}

type Backup = { folder: string; from: number; answered: Record<(typeof answers)[number], number> }

const answers = ['creates', 'cancels', 'stops', 'changes', 'queueOperations'] as const

/** Prepares PostgreSQL for the special fault of a plan. Call this before the processes start. */
export async function prepareServers(
  fixture: Fixture,
  { faults }: TorturePlan,
): Promise<Pick<Stage, 'clock' | 'replica' | 'ballast'>> {
  const has = (kind: Fault['does']) => faults.some(({ does }) => does === kind)
  return {
    clock: has('step PostgreSQL clock') ? await fakeClockOfPostgres(fixture) : null,
    replica: has('fail over') ? await startReplica(fixture, 'synchronous') : null,
    ballast: has('fill disk') ? await moveToSmallDisk(fixture) : null,
  }
}

/** Makes a fault happen, and resolves when it is over. What it may cost is charged to it. */
export async function strike(stage: Stage, fault: Fault): Promise<void> {
  const { fixture, installation } = stage
  const { postgres, redis } = fixture
  const over = () => lasting(fault.forMs)
  switch (fault.does) {
    case 'kill':
    case 'terminate': {
      const away = over()
      const from = performance.now() - stage.beganAt
      const code = await installation[fault.process].end(fault.does === 'kill' ? 'SIGKILL' : 'SIGTERM', away)
      if (code !== 1) return away
      fixture.notes.push(`${fault.process} exited with code 1 after SIGTERM`)
      const mayFail = ({ fault: other, until }: Struck) =>
        until >= from - recoveryMs && mayFailStop(fault.process, other)
      const isExcused = !/dispatcher/.test(fault.process) || stage.struck.some(mayFail)
      fixture.demand(isExcused, `${fault.process} exited with code 1 after SIGTERM while PostgreSQL was there.`)
      return away
    }
    case 'freeze': {
      const { service } = installation[fault.process]
      return service.isRunning() ? freeze(fixture, service, fault.forMs) : undefined // a restore ends all
    }
    case 'clock': {
      const { setClock } = installation[fault.process]
      await setClock(fault.stepS)
      await over()
      return setClock(0)
    }
    case 'network': {
      const proxy = installation[fault.process].proxies[fault.to]
      await proxy.set(fault.mode)
      const isSilent = fault.to === 'postgres' && fault.mode.does !== 'delay' && fault.forMs > maxUnnoticedMs
      const charging =
        isSilent && /dispatcher/.test(fault.process)
          ? fixture.charges.stopped('dispatcher was cut off from PostgreSQL')
          : null
      await over()
      await charging
      return proxy.set({ does: 'pass' })
    }
    case 'flush Redis':
      return void (await redis.client.flushall())
    case 'kill Redis':
      await redis.kill()
      await over()
      return redis.start()
    // An outage of any length loses no attempt: the scheduler declares no dispatcher dead while it cannot read.
    case 'restart PostgreSQL':
      await postgres.stop(fault.how)
      await over()
      return postgres.start(stage.clock?.binaries)
    case 'close connections':
      return void (await fixture.sql(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE backend_type = 'client backend' AND application_name <> 'fixture' ORDER BY random() LIMIT $1`,
        [fault.count],
      ))
    case 'hang commits':
      return hangCommits(stage, over)
    case 'hide time zones':
      await fixture.sql(`UPDATE cron_jobs SET timezone = '${unknownZone}'`).catch(() => {}) // PostgreSQL may be away
      await over()
      return showTimeZones(fixture).catch(() => {}) // the end of the run does it
    // Only forward: the checker compares times.
    case 'step PostgreSQL clock':
      stage.aheadMs += fault.stepS * 1_000
      return stage.clock?.set(stage.aheadMs / 1_000)
    case 'fail over':
      return stage.replica?.takeOver()
    case 'fill disk':
      return keepDiskFull(stage, over)
    case 'back up':
      return takeBackup(stage)
    case 'restore':
      return restore(stage)
  }
}

// A dispatcher that stops records outcomes and undoes claims, so it needs PostgreSQL.
function mayFailStop(process: Seat, fault: Fault): boolean {
  if (fault.does === 'network') return fault.process === process && fault.to === 'postgres'
  if (fault.does === 'freeze') return fault.process === process
  return ['restart PostgreSQL', 'hang commits', 'fail over', 'fill disk', 'restore'].includes(fault.does)
}

// As when a synchronous standby is away. What was in flight may be lost with a dispatcher that cannot write a heartbeat; a
// claim whose commit hangs was not, as it is recognized.
async function hangCommits({ fixture }: Stage, over: () => Promise<void>): Promise<void> {
  const setStandby = async (name: string) => {
    await fixture.sql(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
    await fixture.sql('SELECT pg_reload_conf()')
  }
  await fixture.charges.all('commits hung')
  await setStandby('nowhere')
  await over()
  await setStandby('')
}

const unknownZone = 'Nowhere/Unknown'

/** Gives cron jobs their time zone back, which a process may not know when it is older than its name. */
export async function showTimeZones({ sql }: Fixture): Promise<void> {
  await sql(`UPDATE cron_jobs SET timezone = 'UTC' WHERE timezone = '${unknownZone}'`)
}

async function keepDiskFull({ fixture, ballast }: Stage, over: () => Promise<void>): Promise<void> {
  if (ballast === null) return
  fillDisk(ballast)
  await over()
  await truncate(ballast, 0)
  // PostgreSQL ends when it cannot extend its log. Its operator starts it again.
  const isAlive = await fixture.sql('SELECT 1').then(Boolean, () => false)
  if (isAlive) return
  await fixture.postgres.stop('immediate')
  await fixture.postgres.start()
}

async function takeBackup(stage: Stage): Promise<void> {
  const { fixture } = stage
  const from = (await readDatabaseClock(fixture.sql)).now - 50
  const answered = Object.fromEntries(answers.map(name => [name, fixture[name].length])) as Backup['answered']
  const folder = join(fixture.folder, 'backup')
  await backUp({ url: () => fixture.postgres.url }, fixture.postgres.dataDir, folder)
  stage.backup = { folder, from, answered }
}

// As docs/backup-and-restore.md says: what may have been sent since the backup is held until an operator releases it.
async function restore(stage: Stage): Promise<void> {
  const { fixture, installation, backup } = stage
  if (backup === null) return
  let startAgain = () => {}
  const restored = new Promise<void>(resolve => {
    startAgain = resolve
  })
  await Promise.all(Object.values(installation).map(({ end }) => end('SIGKILL', restored)))
  stage.lostCommits = { from: backup.from, until: await restoreBackup(fixture, backup.folder) }
  forgetAnswers(fixture, backup)
  await fixture.charges.all('a backup was restored')
  fixture.notes.push(await migrate(fixture, 'hold-overdue'))
  await fixture.sql('CREATE TABLE fixture.held AS SELECT id, attempts, state FROM tasks WHERE waits_for = 2')
  const inFlight = await fixture.sql<{ id: string }>(`SELECT id FROM fixture.held WHERE state = 'processing'`)
  stage.heldInFlight = new Set(inFlight.map(({ id }) => id))
  startAgain()
}

// What was answered since the backup may be lost or not, like a call without an answer.
function forgetAnswers(fixture: Fixture, { answered, from }: Backup): void {
  for (const name of answers) for (const answer of fixture[name].slice(answered[name])) answer.status = 'broken'
  for (const answer of fixture.creates.slice(answered.creates)) answer.id = null
  const since = from - performance.timeOrigin // the database's clock is right in a run with a restore
  for (const { operations } of fixture.cronJobs)
    for (const operation of operations) if (operation.answeredAt >= since) operation.status = 'broken'
}

/** Releases what a restore holds. Demands that none of it was started before. */
export async function releaseHeld({ fixture, lostCommits }: Stage): Promise<void> {
  if (lostCommits === null) return
  const started = await fixture.count('tasks JOIN fixture.held h USING (id) WHERE tasks.attempts > h.attempts')
  fixture.demand(started === 0, `${started} held tasks were started before their release.`)
  fixture.notes.push(await migrate(fixture, 'release-held'))
}
