/** What there may be only so many of, and whose it is. */
export type Limited<Figure extends string> = { figure: Figure; workspaceId: string; limit: number }

/** Who asks: how they count, up to `most`, and whether they hold a connection that others may be waiting for. */
type Asking<Figure extends string> = {
  count: (figure: Figure, workspaceId: string, most: number) => Promise<number>
  holdsConnection: boolean
}

export type Rooms<Figure extends string> = {
  /** Runs a creation that certainly keeps within the limit as it is, any other as one that counts under a lock. */
  enter<T>(limited: Limited<Figure>, asking: Asking<Figure>, creation: Creation<T>): Promise<T>
}

type Creation<T> = { wanted: number; create: () => Promise<T>; createUnderLock: () => Promise<T> }

type Room = {
  limit: number
  /** How many may still come in before it is counted again. */
  left: number
  /** Whether there was so little room that each creation is counted. */
  isNarrow: boolean
  until: number
  reading: Promise<void> | null
  /** What this process is about to store. */
  wanted: number
  /** Creations under way. */
  letIn: Array<Promise<unknown>>
}

// What one process lets in on one count. Others may do so at the same time.
const shareOfRoom = 1 / 8
const narrowestRoom = 400
const shortestValidMs = 2_000
// So that counting takes a hundredth of the time at most.
const restAfterCount = 100
const mostRooms = 10_000

/**
 * Remembers how much room there is below limits, because counting is too expensive for each creation. A process lets in a
 * share of the room that it has counted; near the limit each creation counts. So a creation costs nothing as a rule, and
 * the limit is exact, but for what several processes let in during the two seconds that a count is good for.
 */
export function createRooms<Figure extends string>(now: () => number = () => performance.now()): Rooms<Figure> {
  const rooms = new Map<string, Room>()

  function roomOf({ figure, workspaceId, limit }: Limited<Figure>): Room {
    const key = `${figure} ${workspaceId}`
    const known = rooms.get(key)
    if (known?.limit === limit) return known
    if (rooms.size >= mostRooms) rooms.clear()
    const room: Room = { limit, left: 0, isNarrow: false, until: 0, reading: null, wanted: 0, letIn: [] }
    rooms.set(key, known ? Object.assign(known, { ...room, wanted: known.wanted, letIn: known.letIn }) : room)
    return known ?? room
  }

  async function read(room: Room, { figure, workspaceId, limit }: Limited<Figure>, { count }: Asking<Figure>) {
    const began = now()
    const free = limit - (await count(figure, workspaceId, limit)) - room.wanted
    room.isNarrow = free < narrowestRoom
    room.left = room.isNarrow ? 0 : Math.floor(free * shareOfRoom)
    room.until = now() + Math.max(shortestValidMs, (now() - began) * restAfterCount)
  }

  function readOnce(room: Room, limited: Limited<Figure>, asking: Asking<Figure>): Promise<void> {
    room.reading ??= read(room, limited, asking).finally(() => {
      room.reading = null
    })
    return room.reading
  }

  // Whoever holds a connection waits for nobody who may need one.
  async function refresh(room: Room, limited: Limited<Figure>, asking: Asking<Figure>, wanted: number): Promise<void> {
    const isOld = now() >= room.until
    if (room.left < wanted ? room.isNarrow && !isOld : !isOld) return
    if (asking.holdsConnection) await read(room, limited, asking)
    else if (room.left < wanted) await readOnce(room, limited, asking)
    // While there is room the old count does. What fails here is asked again by the next.
    else readOnce(room, limited, asking).catch(() => {})
  }

  async function create<T>(room: Room, { holdsConnection }: Asking<Figure>, creation: Creation<T>): Promise<T> {
    if (room.left >= creation.wanted) {
      room.left -= creation.wanted
      const creating = creation.create()
      room.letIn.push(creating)
      return creating.finally(() => takeOut(room.letIn, creating))
    }
    room.left = 0
    if (!holdsConnection) await Promise.allSettled(room.letIn)
    return creation.createUnderLock()
  }

  return {
    async enter(limited, asking, creation) {
      const room = roomOf(limited)
      await refresh(room, limited, asking, creation.wanted)
      room.wanted += creation.wanted
      try {
        return await create(room, asking, creation)
      } finally {
        room.wanted -= creation.wanted
      }
    },
  }
}

// Not a Set: one that changes with every request grows a chain of dead tables, each holding the next. Once the first of
// them is old, the garbage collector copies whatever requests they hold until it cleans up thoroughly.
function takeOut<T>(items: T[], item: T): void {
  const last = items.pop()
  const index = items.indexOf(item)
  if (index !== -1 && last !== undefined) items[index] = last
}
