import { accountHeadroom, headroom, innerWeight } from './fair-share.ts'

/** The owner of a workspace, and what its tier allows in one dispatcher. */
export type Tenant = {
  /** The user who has owned the organization for the longest time. */
  account: string
  organization: string
  /** The part of the slots that the organization may hold, in percent. */
  slotsPercent: number
  /** For how long calls of the organization may hold slots in a minute, beyond the first second of each. */
  slowCallMs: number
}

/** An account, an organization or a workspace. Only a workspace has leaves. */
export type Level<Leaf> = {
  readonly id: string
  /** Slots that its attempts hold. */
  taken: number
  /** Null for an account. */
  parent: Level<Leaf> | null
  /** The children with leaves that may start; the next one in rotation is first. */
  children: Set<Level<Leaf>>
  /** The leaves that may start, likewise. */
  leaves: Set<Leaf>
}

/**
 * The accounts with work, their organizations, and the workspaces of these. Slots go round-robin to accounts, within an
 * account to its organizations, and so on. Each leaves some slots to the others of its level. An organization has a maximum,
 * and a lower one when its calls are slow.
 */
export type TenantLevels<Leaf> = {
  workspaceOf(id: string): Level<Leaf>
  accountOf(workspace: Level<Leaf>): string
  /** Adds a leaf that may start to the rotation. */
  add(workspace: Level<Leaf>, leaf: Leaf): void
  /**
   * Returns what `start` returns for the next leaf that may take one of `free` slots. A leaf for which it returns null leaves
   * the rotation.
   */
  next<T>(free: number, start: (leaf: Leaf) => T | null): T | null
  /**
   * Takes a slot for a leaf, which goes to the end of the rotations. Returns a function that releases the slot.
   * @param stays - Whether the leaf stays in the rotation.
   */
  take(workspace: Level<Leaf>, leaf: Leaf, stays: boolean): () => void
  /** Applies a change of the tenant of a workspace. Slots in use count for the previous one until they are released. */
  move(workspace: string): void
  /** Removes all levels but those of some workspaces. */
  evictExcept(workspaces: Iterable<Level<Leaf>>): void
}

export type TenantLevelsOptions = {
  slots: number
  /** Milliseconds; only differences matter. */
  now: () => number
  tenantOf: (workspace: string) => Tenant
}

type Organization<Leaf> = Level<Leaf> & { tenant: Tenant; slowCalls: SlowCallBudget }

// The part of its slots that an organization keeps while it has spent its budget of slow calls.
const slowPart = 0.1

export function createTenantLevels<Leaf>({ slots, now, tenantOf }: TenantLevelsOptions): TenantLevels<Leaf> {
  const accounts = new Map<string, Level<Leaf>>()
  const organizations = new Map<string, Organization<Leaf>>()
  const workspaces = new Map<string, Level<Leaf>>()
  const ready = new Set<Level<Leaf>>()

  function open(id: string, parent: Level<Leaf> | null): Level<Leaf> {
    return { id, taken: 0, parent, children: new Set(), leaves: new Set() }
  }

  function organizationOf(workspaceId: string): Organization<Leaf> {
    const tenant = tenantOf(workspaceId)
    const account = accounts.get(tenant.account) ?? open(tenant.account, null)
    accounts.set(account.id, account)
    const known = organizations.get(tenant.organization)
    if (known?.parent === account) return Object.assign(known, { tenant })
    const slowCalls = createSlowCallBudget(() => opened.tenant.slowCallMs)
    const opened: Organization<Leaf> = { tenant, slowCalls, ...open(tenant.organization, account) }
    organizations.set(opened.id, opened)
    return opened
  }

  function makeReady(workspace: Level<Leaf>): void {
    let level = workspace
    for (; level.parent; level = level.parent) level.parent.children.add(level)
    ready.add(level)
  }

  function headroomOf(level: Level<Leaf>, free: number): number {
    if (level.parent === null) return accountHeadroom(level.taken, free, slots)
    const share = headroom(level.taken, free, innerWeight)
    return isOrganization(level) ? Math.min(share, maxSlotsOf(level, slots, now()) - level.taken) : share
  }

  return {
    workspaceOf(id) {
      const workspace = workspaces.get(id) ?? open(id, organizationOf(id))
      workspaces.set(id, workspace)
      return workspace
    },
    accountOf(workspace) {
      let level = workspace
      while (level.parent) level = level.parent
      return level.id
    },
    add(workspace, leaf) {
      workspace.leaves.add(leaf)
      makeReady(workspace)
    },
    next: (free, start) => nextOf(ready, free, headroomOf, start),
    take(workspace, leaf, stays) {
      moveToEnd(workspace.leaves, leaf, stays)
      const organization = workspace.parent
      const account = organization?.parent ?? null
      let slowCalls: SlowCallBudget | null = null
      for (let level: Level<Leaf> | null = workspace; level; level = level.parent) {
        level.taken++
        moveToEnd(level.parent?.children ?? ready, level, level.leaves.size + level.children.size > 0)
        if (isOrganization(level)) slowCalls = level.slowCalls
      }
      const startedAt = now()
      slowCalls?.begin(startedAt)
      // The workspace may have another tenant by then.
      return () => {
        workspace.taken--
        if (organization) organization.taken--
        if (account) account.taken--
        slowCalls?.end(startedAt, now())
      }
    },
    move(id) {
      const workspace = workspaces.get(id)
      if (!workspace) return
      const organization = organizationOf(id)
      if (workspace.parent === organization) return
      const wasReady = workspace.parent?.children.delete(workspace)
      workspace.parent = organization
      if (wasReady) makeReady(workspace)
    },
    evictExcept(used) {
      const kept = new Set<Level<Leaf>>()
      for (const workspace of used) for (const level of lineOf(workspace)) kept.add(level)
      for (const levels of [accounts, organizations, workspaces])
        for (const [id, level] of levels) if (!kept.has(level)) levels.delete(id)
    },
  }
}

// A level without headroom has slots, or belongs to a level that has. So no more levels are skipped than there are slots.
function nextOf<Leaf, T>(
  levels: Set<Level<Leaf>>,
  free: number,
  headroomOf: (level: Level<Leaf>, free: number) => number,
  start: (leaf: Leaf) => T | null,
): T | null {
  for (const level of levels) {
    const room = headroomOf(level, free)
    if (room <= 0) continue
    for (const leaf of level.leaves) {
      const started = start(leaf)
      if (started !== null) return started
      level.leaves.delete(leaf)
    }
    const started = nextOf(level.children, room, headroomOf, start)
    if (started !== null) return started
    if (level.leaves.size + level.children.size === 0) levels.delete(level)
  }
  return null
}

function maxSlotsOf<Leaf>({ tenant, slowCalls }: Organization<Leaf>, slots: number, now: number): number {
  const percent = tenant.slotsPercent * (slowCalls.isSpent(now) ? slowPart : 1)
  return Math.ceil((slots * percent) / 100)
}

/** Returns a workspace, its organization and its account. */
function lineOf<Leaf>(workspace: Level<Leaf>): Level<Leaf>[] {
  const line: Level<Leaf>[] = []
  for (let level: Level<Leaf> | null = workspace; level; level = level.parent) line.push(level)
  return line
}

function isOrganization<Leaf>(level: Level<Leaf>): level is Organization<Leaf> {
  return 'tenant' in level
}

function moveToEnd<T>(rotation: Set<T>, item: T, stays: boolean): void {
  if (stays && rotation.size === 1 && rotation.has(item)) return
  rotation.delete(item)
  if (stays) rotation.add(item)
}

/**
 * The time that calls of an organization hold slots, beyond the first second of each call. It drains continuously, by the
 * limit in a minute. All times are milliseconds of one clock.
 */
export type SlowCallBudget = {
  begin(now: number): void
  end(startedAt: number, now: number): void
  /** Whether calls have held slots for longer than the limit, those in flight included. */
  isSpent(now: number): boolean
}

const fastMs = 1_000
const minuteMs = 60_000

/** @param perMinute - The limit, in milliseconds. */
export function createSlowCallBudget(perMinute: () => number): SlowCallBudget {
  let heldMs = 0
  let drainedAt = 0
  let inFlight = 0
  let sumOfStarts = 0

  function drain(now: number): void {
    const limit = perMinute()
    heldMs = limit === Number.POSITIVE_INFINITY ? 0 : Math.max(0, heldMs - ((now - drainedAt) / minuteMs) * limit)
    drainedAt = now
  }

  return {
    begin(now) {
      inFlight++
      sumOfStarts += now
    },
    end(startedAt, now) {
      inFlight--
      sumOfStarts -= startedAt
      drain(now)
      // The limit of two minutes is the maximum, so the organization recovers within a minute.
      heldMs = Math.min(heldMs + Math.max(0, now - startedAt - fastMs), 2 * perMinute())
    },
    isSpent(now) {
      drain(now)
      return heldMs + Math.max(0, inFlight * (now - fastMs) - sumOfStarts) > perMinute()
    },
  }
}
