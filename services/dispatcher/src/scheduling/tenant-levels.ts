import { accountHeadroom, headroom, innerWeight } from './fair-share.ts'

/** The owner of a workspace, and what its tier allows in one dispatcher. */
export type Tenant = {
  /** The user who has owned the organization for the longest time. */
  account: string
  organization: string
  /** The part of the slots, and of the places for slow calls, that the organization may hold, in percent. */
  slotsPercent: number
  /** Whether the organization has the tier of strangers, and no successful call yet. */
  isNew: boolean
}

/** An account, an organization or a workspace. Only a workspace has leaves. */
export type Level<Leaf> = {
  readonly id: string
  /** Slots that its attempts hold. */
  taken: number
  /** Places for slow calls that they hold. */
  slow: number
  /** Whether it is an account all of whose organizations are new. */
  isNew: boolean
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
 * and so have all new accounts together. Places for slow calls are shared by the same rule.
 */
export type TenantLevels<Leaf> = ReturnType<typeof createTenantLevels<Leaf>>

export type TenantLevelsOptions = {
  slots: number
  /** Places for slow calls, outside the slots. A call with a body of more than 32 KiB takes several. Default: 0. */
  slowPlaces?: number
  /** Milliseconds; only differences matter. */
  now: () => number
  /** The tenant of a workspace. Default, also if null: a separate account without limits. */
  tenantOf?: (workspace: string) => Tenant | null
}

type Organization<Leaf> = Level<Leaf> & { tenant: Tenant }

/** Places of one kind: all, the free ones, and those that new accounts hold. */
type Pool = { readonly places: number; free: number; ofNew: number }
/** The slots are `taken`, the places for slow calls `slow`. */
type Kind = 'taken' | 'slow'
type State = Record<Kind, Pool> & {
  now: () => number
  /** The calls that hold slots, from the oldest on. */
  calls: Set<Holding>
  slowCalls: number
}

const slowMs = 2_000
// A place for slow calls stands for 64 KiB: a socket, what has arrived of the response, and the body, as stored and as sent.
const bytesPerPlace = 32 * 1024
// Strangers may make any number of accounts, so those without a successful call share this part of the places.
const newPart = 0.25

export function createTenantLevels<Leaf>(options: TenantLevelsOptions) {
  const { slots, slowPlaces = 0, now, tenantOf } = options
  const accounts = new Map<string, Level<Leaf>>()
  const organizations = new Map<string, Organization<Leaf>>()
  const workspaces = new Map<string, Level<Leaf>>()
  const [known, unknown] = [new Set<Level<Leaf>>(), new Set<Level<Leaf>>()] // accounts with leaves that may start
  const state: State = { taken: poolOf(slots), slow: poolOf(slowPlaces), now, calls: new Set(), slowCalls: 0 }

  function open(id: string, parent: Level<Leaf> | null, isNew: boolean): Level<Leaf> {
    return { id, taken: 0, slow: 0, isNew, parent, children: new Set(), leaves: new Set() }
  }

  function organizationOf(workspaceId: string): Organization<Leaf> {
    const tenant = tenantOf?.(workspaceId) ?? ownTenant(workspaceId)
    const account = accounts.get(tenant.account) ?? open(tenant.account, null, tenant.isNew)
    accounts.set(account.id, account)
    if (account.isNew && !tenant.isNew) {
      account.isNew = false
      if (unknown.delete(account)) known.add(account)
    }
    const existing = organizations.get(tenant.organization)
    if (existing?.parent === account) return Object.assign(existing, { tenant })
    const opened: Organization<Leaf> = { tenant, ...open(tenant.organization, account, false) }
    organizations.set(opened.id, opened)
    return opened
  }

  function rotationOf({ parent, isNew }: Level<Leaf>): Set<Level<Leaf>> {
    return parent ? parent.children : isNew ? unknown : known
  }

  function makeReady(workspace: Level<Leaf>): void {
    for (let level: Level<Leaf> | null = workspace; level; level = level.parent) rotationOf(level).add(level)
  }

  return {
    /** Slots that no attempt holds. */
    get free(): number {
      return state.taken.free
    },
    /** Calls that hold places for slow calls. */
    get slowCalls(): number {
      return state.slowCalls
    },
    /** Moves the calls that have become slow out of their slots, as far as their tenants may take places. Returns how many. */
    moveSlowCalls(): number {
      const [before, since] = [state.slowCalls, now() - slowMs]
      for (const held of state.calls) {
        if (held.calledAt > since) break
        held.moveAside()
      }
      return state.slowCalls - before
    },
    workspaceOf(id: string): Level<Leaf> {
      const workspace = workspaces.get(id) ?? open(id, organizationOf(id), false)
      workspaces.set(id, workspace)
      return workspace
    },
    accountOf(workspace: Level<Leaf>): string {
      let level = workspace
      while (level.parent) level = level.parent
      return level.id
    },
    /** Adds a leaf that may start to the rotation. */
    add(workspace: Level<Leaf>, leaf: Leaf): void {
      workspace.leaves.add(leaf)
      makeReady(workspace)
    },
    /**
     * Returns what `start` returns for the next leaf that may take a slot. A leaf for which it returns null leaves the
     * rotation.
     */
    next<T>(start: (leaf: Leaf) => T | null): T | null {
      const { free } = state.taken
      if (free === 0) return null
      const started = nextOf(state, known, free, start)
      return started === null && leftForNew(state.taken) > 0 ? nextOf(state, unknown, free, start) : started
    },
    /**
     * Takes a slot for a leaf, and moves the leaf to the end of the rotations.
     * @param stays - Whether the leaf stays in the rotation.
     */
    take(workspace: Level<Leaf>, leaf: Leaf, stays: boolean): Holding {
      moveToEnd(workspace.leaves, leaf, stays)
      for (let level: Level<Leaf> | null = workspace; level; level = level.parent) {
        moveToEnd(rotationOf(level), level, level.leaves.size + level.children.size > 0)
      }
      return new Holding(state, workspace)
    },
    /** Applies a change of the tenant of a workspace. What attempts hold counts for the previous one until it is released. */
    move(id: string): void {
      const workspace = workspaces.get(id)
      if (!workspace) return
      const organization = organizationOf(id)
      if (workspace.parent === organization) return
      const wasReady = workspace.parent?.children.delete(workspace)
      workspace.parent = organization
      if (wasReady) makeReady(workspace)
    },
    /** Removes all levels except the levels of some workspaces. */
    evictExcept(used: Iterable<Level<Leaf>>): void {
      const kept = new Set<Level<Leaf>>()
      for (const workspace of used)
        for (let level: Level<Leaf> | null = workspace; level; level = level.parent) kept.add(level)
      for (const levels of [accounts, organizations, workspaces])
        for (const [id, level] of levels) if (!kept.has(level)) levels.delete(id)
    },
  }
}

/**
 * What an attempt holds: a slot, or places for slow calls. The workspace may have another tenant, and the account may not be
 * new any more, when it is released.
 */
export class Holding {
  calledAt = 0
  readonly #state: State
  readonly #workspace: Level<unknown>
  readonly #organization: Level<unknown> | null
  readonly #account: Level<unknown> | null
  readonly #isOfNew: boolean
  #places = 1
  #isSlow = false

  constructor(state: State, workspace: Level<unknown>) {
    this.#state = state
    this.#workspace = workspace
    this.#organization = workspace.parent
    this.#account = workspace.parent?.parent ?? null
    this.#isOfNew = this.#account?.isNew ?? false
    this.#count('taken', 1)
  }

  /** From now on the call may become slow. `bytes`: the length of the body that it sends. */
  beginCall(bytes: number): void {
    this.#places = 1 + Math.floor(bytes / bytesPerPlace)
    this.calledAt = this.#state.now()
    this.#state.calls.add(this)
  }

  /** Takes places for slow calls in place of the slot, if its tenant may. */
  moveAside(): void {
    const state = this.#state
    let { free } = state.slow
    for (const level of [this.#account, this.#organization, this.#workspace])
      if (level) free = headroomOf(state, 'slow', level, free)
    if (free < this.#places) return
    this.release()
    this.#isSlow = true
    state.slowCalls++
    this.#count('slow', this.#places)
  }

  release(): void {
    if (this.#isSlow) {
      this.#state.slowCalls--
      this.#count('slow', -this.#places)
    } else {
      this.#state.calls.delete(this)
      this.#count('taken', -1)
    }
  }

  #count(kind: Kind, by: number): void {
    const pool = this.#state[kind]
    pool.free -= by
    if (this.#isOfNew) pool.ofNew += by
    this.#workspace[kind] += by
    if (this.#organization) this.#organization[kind] += by
    if (this.#account) this.#account[kind] += by
  }
}

function ownTenant(workspace: string): Tenant {
  return { account: workspace, organization: workspace, slotsPercent: 100, isNew: false }
}

function poolOf(places: number): Pool {
  return { places, free: places, ofNew: 0 }
}

function leftForNew({ places, ofNew }: Pool): number {
  return Math.ceil(places * newPart) - ofNew
}

/** Returns how many of `free` places of a kind a level may take. */
function headroomOf(state: State, kind: Kind, level: Level<unknown>, free: number): number {
  const pool = state[kind]
  if (level.parent !== null) {
    const share = headroom(level[kind], free, innerWeight)
    return isOrganization(level) ? Math.min(share, maxOf(level.tenant, pool) - level[kind]) : share
  }
  // The slots that are reserved for accounts without a call are not for those whose calls are slow.
  const held = kind === 'taken' ? level.taken + level.slow : level.slow
  if (!level.isNew) return accountHeadroom(level[kind], free, pool.places, held)
  return accountHeadroom(level[kind], Math.min(free, leftForNew(pool)), Math.ceil(pool.places * newPart), held)
}

// A level without headroom holds places, or belongs to a level that does. So no more levels are skipped than there are places.
function nextOf<Leaf, T>(
  state: State,
  levels: Set<Level<Leaf>>,
  free: number,
  start: (leaf: Leaf) => T | null,
): T | null {
  for (const level of levels) {
    const room = headroomOf(state, 'taken', level, free)
    if (room <= 0) continue
    for (const leaf of level.leaves) {
      const started = start(leaf)
      if (started !== null) return started
      level.leaves.delete(leaf)
    }
    const started = nextOf(state, level.children, room, start)
    if (started !== null) return started
    if (level.leaves.size + level.children.size === 0) levels.delete(level)
  }
  return null
}

function maxOf({ slotsPercent }: Tenant, { places }: Pool): number {
  return Math.ceil((places * slotsPercent) / 100)
}

function isOrganization(level: Level<unknown>): level is Organization<unknown> {
  return 'tenant' in level
}

function moveToEnd<T>(rotation: Set<T>, item: T, stays: boolean): void {
  if (stays && rotation.size === 1 && rotation.has(item)) return
  rotation.delete(item)
  if (stays) rotation.add(item)
}
