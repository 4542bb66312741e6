import type { DueTimes } from '@belfry/db'
import { type DueWork, type VirtualRole, virtualLookAheadMs } from '@belfry/runtime'

// Alerts, statistics and deletions need no better time.
const upkeepMs = 7 * 24 * 3_600_000

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
  await settle(clock)
}

/** Moves until nothing but cron jobs has work before `until`. */
export async function runUntilIdle(clock: MovedClock, until: number): Promise<void> {
  for (;;) {
    const goal = earliest(clock, exceptCron(await settle(clock)))
    if (goal > until) break
    await visitDueTimes(clock, goal)
  }
  await upkeep(clock)
  await settle(clock)
}

async function visitDueTimes(clock: MovedClock, until: number): Promise<void> {
  let upkeepAt = nextUpkeep(clock.now())
  for (let times = await settle(clock); ; ) {
    const at = earliest(clock, allOf(times))
    if (at > until) return
    if (at < upkeepAt) {
      await clock.set(at)
      times = await settle(clock, times)
    } else {
      upkeepAt = nextUpkeep(at)
      await clock.set(upkeepAt - upkeepMs)
      await upkeep(clock)
      times = await settle(clock)
    }
  }
}

/**
 * Does all work that is due now. Returns what waits afterwards.
 * @param known - What waited before the clock came here. Default: it is read.
 */
async function settle(clock: MovedClock, known?: DueTimes): Promise<DueTimes> {
  for (let times = known ?? (await clock.readDueTimes()); ; times = await clock.readDueTimes()) {
    const due = dueWork(times, clock.now())
    if (!Object.values(due).some(Boolean)) return times
    let found = 0
    for (const role of clock.roles) found += await role.work(due)
    if (found === 0) return times
  }
}

async function upkeep({ roles }: MovedClock): Promise<void> {
  for (const role of roles) await role.upkeep?.()
}

// Work that could not be done at its time waits for something else.
function earliest({ roles, now }: MovedClock, times: number[]): number {
  const all = [...times, ...roles.map(role => role.nextAt?.() ?? Number.POSITIVE_INFINITY)]
  return Math.min(...all.filter(at => at > now()))
}

function dueWork(times: DueTimes, now: number): DueWork {
  return {
    tasks: times.task <= now,
    deadlines: times.deadline <= now,
    occurrences: times.occurrence <= now + virtualLookAheadMs,
    messages: times.message <= now,
    rateLimits: times.rateLimit <= now,
    blocked: times.hasBlocked,
    operations: times.hasOperations,
  }
}

function exceptCron({ laterTaskButCron, deadline, laterMessage, rateLimit }: DueTimes): number[] {
  return [laterTaskButCron, deadline, laterMessage, rateLimit]
}

// An occurrence becomes a task before its time.
function allOf(times: DueTimes): number[] {
  return [...exceptCron(times), times.laterTask, times.occurrence - virtualLookAheadMs]
}

function nextUpkeep(at: number): number {
  return (Math.floor(at / upkeepMs) + 1) * upkeepMs
}
