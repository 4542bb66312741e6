import type { CallerName, TaskSpec } from '../fixture/api-operations.ts'
import { between, chance, pick, type Random } from './dice.ts'
import type { Fault, Operation } from './plan.ts'

/** The names of a secret and of two connections of the first caller. */
export const stored = { secret: 'TORTURE', header: 'with-header', oauth: 'with-token' } as const

// Enough that succeed at once: otherwise the circuit breaker of the target's host is open for most of a run.
const plainShare = 0.5
const cronLanes = 6

/** The kinds of tasks, and how many are created in a second. `isAlone`: without cron jobs, and operations on queues and many tasks. */
export type LoadFocus = { kinds?: readonly [KindName, ...KindName[]]; perSecond?: number; isAlone?: boolean }

/** Plans the calls of the API: tasks of every kind at a steady rate, and operations on queues, cron jobs and many tasks. */
export function planLoad(
  random: Random,
  endAt: number,
  faults: readonly Fault[],
  { kinds: chosen = kindNames, perSecond = 30, isAlone = false }: LoadFocus = {},
): Operation[] {
  const operations: Operation[] = []
  for (let i = 0; i < (perSecond * endAt) / 1_000; i++) {
    const kind = chosen.includes('plain') && chance(random, plainShare) ? 'plain' : pick(random, chosen)
    const at = Math.round((i * 1_000) / perSecond)
    operations.push(...kinds[kind]({ path: `/${kind}-${i}`, at, random, caller: pick(random, [0, 1]) }))
  }
  if (isAlone) return operations
  for (let lane = 0; lane < cronLanes; lane++) operations.push(...planCronJobs(random, lane, endAt))
  for (let at = between(random, 3_000, 9_000); at < endAt; at += between(random, 8_000, 16_000)) {
    const queue = pick(random, queueNames)
    const lane = `pauses of ${queue}`
    operations.push({ at, lane, does: 'pause', queue })
    operations.push({ at: at + between(random, 2_000, 10_000), lane, does: 'resume', queue })
  }
  for (let at = between(random, 6_000, 12_000); at < endAt; at += between(random, 5_000, 12_000)) {
    const action = pick(random, ['cancel', 'stop', 'replay', 'discard'] as const)
    operations.push({ at, does: 'bulk', action, name: '/mass-', ...(action === 'replay' ? { perSecond: 20 } : {}) })
  }
  // All at once: a rate would put them in order.
  for (let at = between(random, 10_000, 20_000); at < endAt; at += between(random, 8_000, 16_000))
    operations.push({ at, does: 'bulk', action: 'replay', name: '/again-' })
  return [...operations, ...planBursts(random, faults)]
}

const [burstSize, burstAheadMs] = [300, 6_000]

// Many tasks come due just before a dispatcher dies or freezes: it has claimed them, and has not sent all of them.
function planBursts(random: Random, faults: readonly Fault[]): Operation[] {
  return faults.flatMap((fault, i): Operation[] => {
    const isOfDispatcher = (fault.does === 'kill' || fault.does === 'freeze') && /dispatcher/.test(fault.process)
    if (!isOfDispatcher || fault.at < burstAheadMs || !chance(random, 0.5)) return []
    const at = fault.at - burstAheadMs
    const inMs = burstAheadMs - between(random, 100, 600)
    return [{ at, does: 'burst', path: `/burst-${i}`, count: burstSize, inMs, caller: pick(random, [0, 1]) }]
  })
}

/** Returns the kind of load that a path belongs to. */
export function kindOf(path: string): string {
  return path.slice(1).split('-')[0] ?? ''
}

export const queueNames = ['concurrent', 'rated', 'ordered', 'again'] as const

type Task = { path: string; at: number; random: Random; caller: CallerName }
type Kind = (task: Task) => Operation[]

// A kind is a feature: its tasks, and the operations on them. Paths begin with its name.
const kinds = {
  plain: task => [
    create(task, { answers: [{ status: 200, delayMs: between(task.random, 0, 600) }], timeoutMs: 5_000 }),
  ],
  failing: task => [create(task, { answers: [{ status: 500 }, { status: 200 }] })],
  dying: task => [create(task, { answers: [{ status: 500 }], maxRetries: 2 })],
  slow: task => [
    create(task, { answers: [{ status: 200, delayMs: between(task.random, 200, 3_000) }], timeoutMs: 5_000 }),
  ],
  hanging: task => [create(task, { answers: [{ does: 'hang' }, { status: 200 }] })],
  closing: task => [
    create(task, { answers: [pick(task.random, [{ does: 'reset' }, { does: 'close_in_body' }]), { status: 200 }] }),
  ],
  expiring: task => [create(task, { answers: [{ status: 500 }], expiresInMs: between(task.random, 1_000, 5_000) })],
  limited: task => [create({ ...task, caller: 2 }, {})],
  // The same request three times, as a client that had no answer sends it.
  repeated: task => {
    const first = create(task, { key: task.path, inMs: 6_000 })
    return [0, 700, 4_000].map(ms => ({ ...first, at: task.at + ms }))
  },
  replacing: task => {
    const key = `key-${between(task.random, 1, 5)}`
    const onConflict = pick(task.random, ['replace', 'replace', 'keep', 'reject'] as const)
    return [{ ...create({ ...task, caller: 0 }, { uniqueKey: { key, onConflict }, inMs: 3_000 }), lane: key }]
  },
  concurrent: task =>
    inQueue(task, {
      queue: { name: 'concurrent', max_concurrent: 2 },
      answers: [{ status: 200, delayMs: between(task.random, 500, 2_000) }],
    }),
  rated: task =>
    inQueue(task, {
      queue: { name: 'rated', rate_limit: { count: 3, period_ms: 3_000 } },
      ...(chance(task.random, 0.5) ? { connection: stored.oauth } : {}),
    }),
  ordered: task =>
    inQueue(task, {
      queue: { name: 'ordered', ordered: true },
      ...(chance(task.random, 0.2) ? { answers: [{ status: 500 }, { status: 200 }] } : {}),
      ...(chance(task.random, 0.2) ? { expiresInMs: between(task.random, 1_000, 8_000) } : {}),
    }),
  // Dead letters of an ordered queue, which are replayed together.
  again: task =>
    inQueue(task, {
      queue: { name: 'again', ordered: true },
      answers: [{ status: 500 }, { status: 200 }],
      maxRetries: 0,
    }),
  reporting: task => [
    create(task, {
      callbacks: `${task.path}-result`,
      ...(chance(task.random, 0.3) ? { answers: [{ status: 500 }], maxRetries: 1 } : {}),
    }),
  ],
  connected: task => [create({ ...task, caller: 0 }, { connection: pick(task.random, [stored.header, stored.oauth]) })],
  secret: task => {
    const reference = `{{ secrets.${stored.secret} }}`
    return [create({ ...task, caller: 0 }, { headers: { 'x-token': reference }, payload: { token: reference } })]
  },
  changed: task => {
    const to = {
      path: `${task.path}-to`,
      ...(chance(task.random, 0.7) ? { inMs: between(task.random, 500, 5_000) } : {}),
    }
    return thenAround(task, {}, { does: 'change', path: task.path, to })
  },
  cancelled: task => thenAround(task, {}, { does: 'cancel', path: task.path }),
  stopped: task => {
    const { path, at, random } = task
    const failing = create(task, { answers: [{ status: 500 }], baseDelayMs: 5_000, inMs: 1_000 })
    return [failing, { at: at + between(random, 1_500, 9_000), does: 'stop', path }]
  },
  mass: task => [
    create(
      { ...task, caller: 0 },
      { answers: [{ status: pick(task.random, [200, 500]) }], maxRetries: 1, inMs: 6_000 },
    ),
  ],
} satisfies Record<string, Kind>

type KindName = keyof typeof kinds

/** The kinds of tasks. */
export const kindNames = Object.keys(kinds) as [KindName, ...KindName[]]

function create({ path, at, random, caller }: Task, spec: Partial<TaskSpec>): Extract<Operation, { does: 'create' }> {
  return { at, does: 'create', task: { path, caller, inMs: between(random, 500, 8_000), ...spec } }
}

// One after another, and due in the order of their creation: an ordered queue has no order among tasks that arrive late.
function inQueue(task: Task, spec: Partial<TaskSpec> & { queue: { name: string } }): Operation[] {
  return [{ ...create({ ...task, caller: 0 }, { timeoutMs: 5_000, inMs: 2_000, ...spec }), lane: spec.queue.name }]
}

// At about the due time, when the race with the claim is close.
function thenAround(
  task: Task,
  spec: Partial<TaskSpec>,
  then: { does: 'cancel'; path: string } | { does: 'change'; path: string; to: { path: string; inMs?: number } },
): Operation[] {
  const inMs = between(task.random, 1_000, 6_000)
  const at = task.at + (chance(task.random, 0.3) ? 300 : inMs + between(task.random, -150, 100))
  return [create(task, { ...spec, inMs }), { at, ...then }]
}

// One cron job after another; each is created, operated on at random moments, and perhaps deleted.
function planCronJobs(random: Random, lane: number, endAt: number): Operation[] {
  const operations: Operation[] = []
  let made = 0
  let path = ''
  const make = (at: number) => {
    path = `/cron-${lane * 100 + made++}`
    const slow = chance(random, 0.3) ? { answers: [{ status: 200, delayMs: 4_000 }], timeoutMs: 8_000 } : {}
    const catchUp = pick(random, ['latest', 'all', 'none'] as const)
    const overlap = pick(random, ['allow', 'skip'] as const)
    operations.push({
      ...{ at, lane: path, does: 'create cron job' },
      cron: { path, catchUp, overlap, caller: pick(random, [0, 1]), ...slow },
    })
  }
  make(between(random, 0, 5_000))
  for (let at = between(random, 8_000, 40_000); at < endAt; at += between(random, 3_000, 40_000)) {
    const kind = pick(random, ['pause', 'pause', 'resume', 'resume', 'change', 'trigger', 'delete'] as const)
    if (kind === 'change')
      operations.push({ at, lane: path, does: 'reschedule cron job', path, everyMinutes: pick(random, [1, 2]) })
    else operations.push({ at, lane: path, does: 'operate cron job', path, kind })
    if (kind === 'delete') make(at + 500)
  }
  return operations
}
