import type { DueTimes } from '@belfry/db/virtual-clock/read-due-times'
import type { DueWork, VirtualRole } from '@belfry/runtime'

// Precise enough for alerts, statistics and deletions.
const upkeepMs = 28 * 24 * 3_600_000
// When the next occurrence of a cron job is due in a minute, its occurrences of a week become tasks: few statements for a
// daily job. Occurrences after the end of the move are left out: few tasks for a minutely job in a short move.
const [minLookAheadMs, maxLookAheadMs] = [60_000, 7 * 24 * 3_600_000]

/** What the moves of a stopped clock need. Times are in epoch milliseconds. */
export type MovedClock = {
  roles: readonly VirtualRole[]
  now(): number
  set(at: number): Promise<void>
  readDueTimes(): Promise<DueTimes>
}

/** Moves from one due time to the next, up to `to`, and then there. Does the work of each. */
export async function advance(clock: MovedClock, to: number): Promise<void> {
  await visitDueTimes(clock, to)
  await clock.set(Math.max(clock.now(), to))
  await upkeep(clock)
  await settle(clock, clock.now())
}

/** Moves until only cron jobs have work before `until`. */
export async function runUntilIdle(clock: MovedClock, until: number): Promise<void> {
  for (;;) {
    const goal = earliest(clock, exceptCron(await settle(clock, clock.now())))
    if (goal > until) break
    await visitDueTimes(clock, goal)
  }
  await upkeep(clock)
  await settle(clock, clock.now())
}

async function visitDueTimes(clock: MovedClock, until: number): Promise<void> {
  let upkeepAt = nextUpkeep(clock.now())
  for (let times = await settle(clock, until); ; ) {
    const at = earliest(clock, allOf(times))
    if (at > until) return
    if (at < upkeepAt) {
      await clock.set(at)
      times = await settle(clock, until, times)
    } else {
      upkeepAt = nextUpkeep(at)
      await clock.set(upkeepAt - upkeepMs)
      await upkeep(clock)
      times = await settle(clock, until)
    }
  }
}

/**
 * Does all work that is due now. Returns what waits afterwards.
 * @param until - Where the move ends.
 * @param known - What waited before the clock came here. Default: it is read.
 */
async function settle(clock: MovedClock, until: number, known?: DueTimes): Promise<DueTimes> {
  let begun = await finishBegun(clock)
  for (let times = known ?? (await clock.readDueTimes()), found = 1; ; times = await clock.readDueTimes()) {
    const due = dueWork(times, clock.now(), until)
    if (found === 0 || !hasWork(due)) {
      // The waiting tasks do not include the task of an attempt that began meanwhile.
      const now = await finishBegun(clock)
      if (now === begun) return times
      begun = now
      found = 1
      continue
    }
    found = 0
    for (const role of clock.roles) found += await role.work(due)
    begun = await finishBegun(clock)
  }
}

async function finishBegun({ roles }: MovedClock): Promise<number> {
  let begun = 0
  for (const role of roles) begun += (await role.finishBegun?.()) ?? 0
  return begun
}

async function upkeep({ roles }: MovedClock): Promise<void> {
  for (const role of roles) await role.upkeep?.()
}

// Work that could not be done at its time waits for something else.
function earliest({ roles, now }: MovedClock, times: number[]): number {
  const all = [...times, ...roles.map(role => role.nextAt?.() ?? Number.POSITIVE_INFINITY)]
  return Math.min(...all.filter(at => at > now()))
}

function dueWork(times: DueTimes, now: number, until: number): DueWork {
  const lookAheadMs = Math.max(minLookAheadMs, Math.min(maxLookAheadMs, until - now))
  return {
    tasks: times.tasks.filter(task => task.dueAt.getTime() <= now),
    deadlines: times.deadline <= now,
    lookAheadMs: times.occurrence <= now + minLookAheadMs ? lookAheadMs : 0,
    messages: times.message <= now,
    rateLimits: times.rateLimit <= now,
    blocked: times.hasBlocked,
    operations: times.hasOperations,
  }
}

function hasWork({ tasks, ...others }: DueWork): boolean {
  return tasks.length > 0 || Object.values(others).some(Boolean)
}

function exceptCron({ laterTaskButCron, deadline, laterMessage, rateLimit }: DueTimes): number[] {
  return [laterTaskButCron, deadline, laterMessage, rateLimit]
}

// An occurrence becomes a task before its time.
function allOf(times: DueTimes): number[] {
  return [...exceptCron(times), times.laterTask, times.occurrence - minLookAheadMs]
}

function nextUpkeep(at: number): number {
  return (Math.floor(at / upkeepMs) + 1) * upkeepMs
}
