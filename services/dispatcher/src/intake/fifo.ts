/** A line of any length: what was added first leaves first, at the same cost however many stand in it. */
export type Fifo<T> = {
  readonly size: number
  add(item: T): void
  /** The one with so many before it; undefined when there is none. */
  at(index: number): T | undefined
  /** Lets the first one go. */
  drop(): void
  takeAll(): T[]
}

const compactAt = 1_000

/** Makes a line. An array's own `shift` moves all that stand behind, and a Set steps over those that have left. */
export function createFifo<T>(): Fifo<T> {
  let items: (T | undefined)[] = []
  let gone = 0
  return {
    get size() {
      return items.length - gone
    },
    add(item) {
      items.push(item)
    },
    at: index => items[gone + index],
    drop() {
      if (gone === items.length) return
      items[gone++] = undefined
      if (gone < items.length && (gone < compactAt || gone * 2 < items.length)) return
      items = items.slice(gone)
      gone = 0
    },
    takeAll() {
      const all = items.slice(gone) as T[] // those that have left stand before
      items = []
      gone = 0
      return all
    },
  }
}
