import Denque from 'denque'
import { mayTake } from './fair-share.ts'
import { createHostHealth, type HostHealth, type Verdict } from './host-health.ts'
import { createPace, type Pace } from './pace.ts'

/** What decides where a task stands in line. */
export type Lined = { workspace: string; host: string }

/** An attempt that may start now. */
export type Turn<Task> = {
  task: Task
  /**
   * The tasks behind it, each given out once, whose turn comes within some milliseconds at the pace at which turns of
   * their line end: they may be claimed already. Only of a line in which tasks have waited for a tenth of a second; none
   * while no turns end, or the host rests.
   */
  upcoming(): Task[]
  /** Gives its places back, once. Tells what the verdict changes for the host, and until when it rests. */
  end(verdict: Verdict): { change: 'resting' | 'rested' | null; restsUntil: number | null }
}

/**
 * The due tasks of a process, waiting for their turn. Workspaces take turns, and within a workspace its hosts do. An
 * attempt takes one of the process's slots and one of its host's places; of both, a workspace leaves some to others. A
 * task whose host is full or rests takes no slot and holds up no task behind it.
 */
export type Lines<Task> = {
  add(task: Task): void
  /** The next task whose turn it is, with its places taken; null when there is none now. */
  next(): Turn<Task> | null
  /** Looks again at the tasks for a host whose rest may be over. */
  wake(host: string): void
  /** Takes out every task that still waits. */
  takeAll(): Task[]
  /** Takes out the tasks that were given out as upcoming, and still wait after so many milliseconds, or for a host that rests. */
  takeDelayed(ms: number): Task[]
  /** Forgets hosts that nobody has called for a minute, and of the others all but some thousand. */
  forget(): void
  /** How many tasks of a workspace wait for hosts that are full or rest. */
  parkedOf(workspace: string): number
  /** The hosts that rest or are probed, each workspace for itself. */
  resting(): Lined[]
  /** Ends a host's rest for a workspace. */
  reset(line: Lined): void
  /** Attempts under way. */
  readonly underWay: number
  /** Tasks that were given out as upcoming, and still wait. */
  readonly upcoming: number
}

type Workspace<Task> = { underWay: number; parked: number; ready: Set<Line<Task>> }
type Host<Task> = { underWay: number; parked: Set<Line<Task>>; lines: number }
type Line<Task> = {
  key: string
  workspaceId: string
  hostName: string
  workspace: Workspace<Task>
  host: Host<Task>
  health: HostHealth
  underWay: number
  waiting: Denque<Task>
  /** Since when there have been some. */
  waitingSince: number
  /** When the tasks at the front were given out as upcoming. */
  upcomingSince: Denque<number>
  pace: Pace
}
type State<Task> = {
  options: LinesOptions
  free: number
  upcoming: number
  workspaces: Map<string, Workspace<Task>>
  hosts: Map<string, Host<Task>>
  lines: Map<string, Line<Task>>
  /** Workspaces with lines that wait neither for a full nor for a resting host; the one whose turn it is first. */
  ready: Set<Workspace<Task>>
}

export type LinesOptions = {
  slots: number
  placesPerHost: number
  /** Milliseconds; only differences matter. */
  now: () => number
}

// A workspace alone may take nine tenths of the slots, and of the places of a host.
const weight = 9
const mostIdleLines = 10_000
// More than a batch of claims and an entry in the send journal take under load, each with the wait for the one before it. Not after a moment's hitch: then tasks that
// have their turn would wait for the claims of those that have none.
const upcomingMs = 150
const upcomingAfterMs = 100
const mostUpcoming = 512

export function createLines<Task extends Lined>(options: LinesOptions): Lines<Task> {
  const empty = { workspaces: new Map(), hosts: new Map(), lines: new Map(), ready: new Set<Workspace<Task>>() }
  const state: State<Task> = { options, free: options.slots, upcoming: 0, ...empty }
  return {
    get underWay() {
      return options.slots - state.free
    },
    get upcoming() {
      return state.upcoming
    },
    parkedOf: workspace => state.workspaces.get(workspace)?.parked ?? 0,
    add(task) {
      const line = lineOf(state, task)
      if (line.waiting.isEmpty()) line.waitingSince = options.now()
      line.waiting.push(task)
      if (line.host.parked.has(line)) line.workspace.parked++
      else makeReady(state, line)
    },
    next: () => next(state),
    wake(host) {
      const known = state.hosts.get(host)
      if (known) unpark(state, known)
    },
    takeAll() {
      for (const host of state.hosts.values()) unpark(state, host)
      state.upcoming = 0
      return [...state.lines.values()].flatMap(({ waiting, upcomingSince }) => {
        const tasks = waiting.toArray()
        waiting.clear()
        upcomingSince.clear()
        return tasks
      })
    },
    takeDelayed: ms => takeDelayed(state, options.now() - ms),
    forget: () => forget(state),
    resting: () => resting(state),
    reset({ workspace, host }) {
      state.lines.get(`${workspace} ${host}`)?.health.reset()
      const known = state.hosts.get(host)
      if (known) unpark(state, known)
    },
  }
}

function lineOf<Task>(state: State<Task>, { workspace: workspaceId, host: hostName }: Lined): Line<Task> {
  const key = `${workspaceId} ${hostName}`
  const known = state.lines.get(key)
  if (known) return known
  const workspace = state.workspaces.get(workspaceId) ?? { underWay: 0, parked: 0, ready: new Set() }
  const host = state.hosts.get(hostName) ?? { underWay: 0, parked: new Set(), lines: 0 }
  const own = { health: createHostHealth(), underWay: 0, pace: createPace() }
  const fifos = { waiting: new Denque<Task>(), waitingSince: 0, upcomingSince: new Denque<number>() }
  const line = { key, workspaceId, hostName, workspace, host, ...own, ...fifos }
  host.lines++
  state.workspaces.set(workspaceId, workspace)
  state.hosts.set(hostName, host)
  state.lines.set(key, line)
  return line
}

function makeReady<Task>({ ready }: State<Task>, line: Line<Task>): void {
  line.workspace.ready.add(line)
  ready.add(line.workspace)
}

function park<Task>(line: Line<Task>): void {
  line.workspace.ready.delete(line)
  line.workspace.parked += line.waiting.length
  line.host.parked.add(line)
}

function unpark<Task>(state: State<Task>, host: Host<Task>): void {
  for (const line of host.parked) {
    line.workspace.parked -= line.waiting.length
    makeReady(state, line)
  }
  host.parked.clear()
}

function next<Task>(state: State<Task>): Turn<Task> | null {
  if (state.free === 0) return null
  for (const workspace of state.ready) {
    if (!mayTake(workspace.underWay, state.free, weight)) continue
    for (const line of workspace.ready) {
      const task = line.waiting.peekFront()
      if (task !== undefined && mayStart(state, line)) return start(state, line, task)
      park(line)
    }
    state.ready.delete(workspace)
  }
  return null
}

function mayStart<Task>({ options }: State<Task>, { host, underWay, health }: Line<Task>): boolean {
  return mayTake(underWay, options.placesPerHost - host.underWay, weight) && health.mayStart(options.now())
}

// The line and its workspace go to the end of their rotations.
function start<Task>(state: State<Task>, line: Line<Task>, task: Task): Turn<Task> {
  drop(state, line)
  moveToEnd(line.workspace.ready, line, line.waiting.length > 0)
  moveToEnd(state.ready, line.workspace, line.workspace.ready.size > 0)
  count(state, line, 1)
  const generation = line.health.begin()
  let isOver = false
  return {
    task,
    upcoming: () => upcoming(state, line),
    end(verdict) {
      if (isOver) return { change: null, restsUntil: null }
      isOver = true
      count(state, line, -1)
      const now = state.options.now()
      line.pace.note(now)
      const change = line.health.end(generation, verdict, now)
      unpark(state, line.host)
      return { change, restsUntil: line.health.restsUntil }
    },
  }
}

function moveToEnd<T>(rotation: Set<T>, item: T, stays: boolean): void {
  rotation.delete(item)
  if (stays) rotation.add(item)
}

// What is upcoming stands at the front.
function drop<Task>(state: State<Task>, { waiting, upcomingSince }: Line<Task>): void {
  waiting.shift()
  if (upcomingSince.isEmpty()) return
  upcomingSince.shift()
  state.upcoming--
}

function upcoming<Task>(state: State<Task>, line: Line<Task>): Task[] {
  const { waiting, waitingSince, upcomingSince, health, pace } = line
  const tasks: Task[] = []
  const now = state.options.now()
  if (health.restsUntil !== null || now - waitingSince < upcomingAfterMs) return tasks
  const most = pace.expect(upcomingMs, now)
  while (upcomingSince.length < most && mayTake(upcomingSince.length, mostUpcoming - state.upcoming, weight)) {
    const task = waiting.peekAt(upcomingSince.length)
    if (task === undefined) break
    tasks.push(task)
    upcomingSince.push(now)
    state.upcoming++
  }
  return tasks
}

function takeDelayed<Task>(state: State<Task>, since: number): Task[] {
  const tasks: Task[] = []
  if (state.upcoming === 0) return tasks
  for (const line of state.lines.values()) {
    const isDelayed = (at: number) => at <= since || line.health.restsUntil !== null
    for (
      let at = line.upcomingSince.peekFront();
      at !== undefined && isDelayed(at);
      at = line.upcomingSince.peekFront()
    ) {
      const task = line.waiting.peekFront()
      if (task !== undefined) tasks.push(task)
      drop(state, line)
      if (line.host.parked.has(line)) line.workspace.parked--
    }
  }
  return tasks
}

function count<Task>(state: State<Task>, line: Line<Task>, by: 1 | -1): void {
  state.free -= by
  for (const counter of [line, line.host, line.workspace]) counter.underWay += by
}

function resting<Task>({ lines }: State<Task>): Lined[] {
  const atRest = [...lines.values()].filter(({ health }) => health.restsUntil !== null)
  return atRest.map(({ workspaceId: workspace, hostName: host }) => ({ workspace, host }))
}

function forget<Task>({ options, lines, hosts, workspaces }: State<Task>): void {
  const now = options.now()
  const idle = [...lines.values()].filter(({ waiting, underWay }) => waiting.isEmpty() && underWay === 0)
  const surplus = idle.length - mostIdleLines
  for (const [i, line] of idle.entries()) {
    if (i >= surplus && !line.health.isForgettable(now)) continue
    lines.delete(line.key)
    if (--line.host.lines === 0) hosts.delete(line.hostName)
  }
  const inUse = new Set([...lines.values()].map(({ workspaceId }) => workspaceId))
  for (const id of workspaces.keys()) if (!inUse.has(id)) workspaces.delete(id)
}
