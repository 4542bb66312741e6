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

  // What has to be waited for before `left` can be trusted; null for nothing. Whoever holds a connection waits for nobody
  // who may need one.
  function recount(room: Room, limited: Limited<Figure>, asking: Asking<Figure>, wanted: number): Promise<void> | null {
    const isOld = now() >= room.until
    if (room.left < wanted ? room.isNarrow && !isOld : !isOld) return null
    if (asking.holdsConnection) return read(room, limited, asking)
    const reading = readOnce(room, limited, asking)
    if (room.left < wanted) return reading
    reading.catch(() => {}) // while there is room the old count does; what fails here is asked again by the next
    return null
  }

  return {
    async enter<T>(limited: Limited<Figure>, asking: Asking<Figure>, { wanted, create, createUnderLock }: Creation<T>) {
      const room = roomOf(limited)
      const reading = recount(room, limited, asking, wanted)
      if (reading !== null) await reading
      let creating: Promise<T> | null = null
      room.wanted += wanted
      try {
        if (room.left >= wanted) {
          room.left -= wanted
          creating = create()
          room.letIn.push(creating)
          return await creating
        }
        room.left = 0
        if (!asking.holdsConnection) await Promise.allSettled(room.letIn)
        return await createUnderLock()
      } finally {
        room.wanted -= wanted
        if (creating !== null) takeOut(room.letIn, creating)
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
