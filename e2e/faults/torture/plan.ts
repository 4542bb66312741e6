import type { CallerName, CronSpec, TaskSpec } from '../fixture/api-operations.ts'
import { createRandom } from '../fixture/load.ts'
import type { ProxyMode } from '../fixture/proxy.ts'
import { between, chance, pick, type Random } from './dice.ts'
import { type LoadFocus, planLoad } from './plan-load.ts'

/** Everything that happens to an installation, decided before it starts. Pure data: JSON keeps it. */
export type TorturePlan = {
  seed: number
  minutes: number
  /** Environment variables of the processes. Default: none. */
  settings?: Record<string, string>
  load: Operation[]
  faults: Fault[]
}

/** A call of the API. Times are in milliseconds from the start. Operations of one lane run one after another. */
export type Operation = { at: number; lane?: string } & (
  | { does: 'create'; task: TaskSpec }
  | { does: 'burst'; path: string; count: number; inMs: number; caller: CallerName }
  | { does: 'cancel' | 'stop'; path: string }
  | { does: 'change'; path: string; to: { path: string; inMs?: number } }
  | { does: 'pause' | 'resume'; queue: string }
  | { does: 'bulk'; action: 'cancel' | 'stop' | 'replay' | 'discard'; name: string; perSecond?: number }
  | { does: 'create cron job'; cron: CronSpec }
  | { does: 'operate cron job'; path: string; kind: 'pause' | 'resume' | 'delete' | 'trigger' }
  | { does: 'reschedule cron job'; path: string; everyMinutes: number }
)

/** The processes. Each is started again when it ends. */
export const seats = ['api', 'scheduler 1', 'scheduler 2', 'dispatcher 1', 'dispatcher 2'] as const
export type Seat = (typeof seats)[number]

/** A fault of a process or of a server, and for how long it lasts. */
export type Fault = { at: number; forMs: number } & (
  | { does: 'kill' | 'terminate' | 'freeze'; process: Seat }
  | { does: 'clock'; process: Seat; stepS: number }
  | { does: 'network'; process: Seat; to: 'postgres' | 'redis'; mode: ProxyMode }
  | { does: 'flush Redis' | 'kill Redis' }
  | { does: 'restart PostgreSQL'; how: 'fast' | 'immediate' }
  | { does: 'close connections'; count: number }
  | { does: 'hang commits' | 'hide time zones' }
  | { does: 'step PostgreSQL clock'; stepS: number }
  | { does: 'fail over' | 'fill disk' | 'back up' | 'restore' }
)

/** What a run does to PostgreSQL once. Each needs a preparation that excludes the others. */
const specials = ['step PostgreSQL clock', 'fail over', 'fill disk', 'restore'] as const

// A process is left alone for this long after a fault, so two short outages do not add up to a long one.
const recoveryMs = 12_000
// Faults end this long before the load.
const tailMs = 3_000
const maxStepAheadS = 90

/** A part of what happens, for a run that is about little. Default: all of it. */
export type Focus = LoadFocus & { settings?: Record<string, string>; faults?: (fault: Fault) => boolean }

/** Plans a run: the same seed plans the same. */
export function planTorture(
  seed: number,
  minutes: number,
  { settings = {}, faults: isChosen = () => true, ...focus }: Focus = {},
): TorturePlan {
  const endAt = minutes * 60_000
  const lanes = [planProcessFaults, planServerFaults].flatMap((plan, i) => plan(createRandom(seed * 3 + i), endAt))
  const faults = lanes
    .filter(fault => fault.at < endAt - tailMs && isChosen(fault))
    .map(fault => ({ ...fault, forMs: Math.min(fault.forMs, endAt - tailMs - fault.at) }))
  const load = planLoad(createRandom(seed * 3 + 2), endAt, faults, focus).filter(({ at }) => at < endAt)
  return { seed, minutes, settings, load: inOrder(load), faults: inOrder(faults) }
}

function inOrder<T extends { at: number }>(things: readonly T[]): T[] {
  return [...things].sort((a, b) => a.at - b.at)
}

function planProcessFaults(random: Random, endAt: number): Fault[] {
  const faults: Fault[] = []
  const freeAt = new Map<Seat, number>()
  for (let at = between(random, 2_000, 6_000); at < endAt; at += between(random, 3_000, 8_000)) {
    const free = seats.filter(seat => (freeAt.get(seat) ?? 0) <= at)
    if (free.length === 0) continue
    const fault = faultOf(random, at, pick(random, free as [Seat, ...Seat[]]))
    faults.push(fault)
    if ('process' in fault) freeAt.set(fault.process, at + fault.forMs + recoveryMs)
  }
  return faults
}

function faultOf(random: Random, at: number, process: Seat): Fault {
  const does = pick(random, ['kill', 'kill', 'terminate', 'freeze', 'freeze', 'clock', 'network', 'network'] as const)
  if (does === 'clock') {
    const stepS = pick(random, [-3_600, -60, -1, 1, 60, 3_600])
    return { at, does, process, stepS, forMs: between(random, 5_000, 20_000) }
  }
  if (does === 'network') {
    const mode = pick<ProxyMode>(random, [
      ...([{ does: 'black_hole' }, { does: 'reset' }, { does: 'refuse' }] as const),
      { does: 'delay', ms: between(random, 50, 500) },
    ])
    return { at, does, process, to: pick(random, ['postgres', 'redis']), mode, forMs: between(random, 1_000, 15_000) }
  }
  const forMs = does === 'freeze' ? between(random, 2_000, 20_000) : between(random, 0, 8_000)
  return { at, does, process, forMs }
}

function planServerFaults(random: Random, endAt: number): Fault[] {
  const special = pick(random, specials)
  const [backupAt, specialAt] = [0.4 * endAt, 0.7 * endAt].map(Math.round) as [number, number]
  const faults: Fault[] = []
  for (let at = between(random, 4_000, 10_000); at < specialAt; at += between(random, 6_000, 14_000)) {
    const fault = serverFault(random, at, special)
    faults.push(fault)
    if (fault.does !== 'hide time zones') at += fault.forMs
  }
  if (special === 'restore') faults.push({ at: backupAt, does: 'back up', forMs: 0 })
  if (special === 'fill disk') faults.push({ at: specialAt, does: special, forMs: between(random, 4_000, 8_000) })
  else if (special !== 'step PostgreSQL clock') faults.push({ at: specialAt, does: special, forMs: 0 })
  return faults
}

const serverFaults = [
  ...(['flush Redis', 'kill Redis', 'close connections', 'restart PostgreSQL'] as const),
  ...(['hang commits', 'hide time zones'] as const),
] as const

function serverFault(random: Random, at: number, special: (typeof specials)[number]): Fault {
  if (special === 'step PostgreSQL clock' && chance(random, 0.2))
    return { at, does: special, stepS: between(random, 1, maxStepAheadS), forMs: 0 }
  const does = pick(random, serverFaults)
  if (does === 'flush Redis') return { at, does, forMs: 0 }
  // A process that stops must not wait for it.
  if (does === 'kill Redis')
    return { at, does, forMs: chance(random, 0.2) ? between(random, 35_000, 45_000) : between(random, 0, 8_000) }
  if (does === 'hide time zones') return { at, does, forMs: between(random, 10_000, 80_000) }
  // A failover has a standby of its own.
  if (does === 'hang commits')
    return special === 'fail over'
      ? { at, does: 'flush Redis', forMs: 0 }
      : { at, does, forMs: between(random, 2_000, 20_000) }
  if (does === 'close connections') return { at, does, count: between(random, 1, 10), forMs: 0 }
  const forMs = chance(random, 0.3) ? between(random, 15_000, 20_000) : between(random, 0, 4_000)
  return { at, does, how: pick(random, ['fast', 'immediate']), forMs }
}
