import type { Run, RunPage } from '@belfry/contract/run'

/** Reads the page at a cursor, or the first page. */
type ReadPage = (cursor: string | undefined, signal: AbortSignal) => Promise<RunPage>

/** The content of a log at one moment. */
export type LogView = {
  rowCount: number
  /** Undefined while its page is read again. */
  runAt(index: number): Run | undefined
  /** How many new runs are held back. */
  waiting: number
  /**
   * `reading` a page; `idle` until the user scrolls; `stopped` after many pages without a match; `full` at the maximum
   * number of pages; `end` of the log; `failed` with an error.
   */
  state: 'reading' | 'idle' | 'stopped' | 'full' | 'end' | 'failed'
  error: unknown
  /** Whether the oldest page came from object storage, as all older ones will. */
  isFromStorage: boolean
}

/** A page. Far from the view, its runs are dropped and only its length is kept. */
type StoredPage = {
  cursor: string | undefined
  runs: readonly Run[] | null
  length: number
  next: string | null
  isFromStorage: boolean
}

// Where scrolling ends, because browsers limit the height of an element.
export const maxPages = 1000
/** How many new runs are inserted before the log is reloaded, and how many are held back. */
export const maxArrived = 300
// Consecutive pages without a match, after which reading stops until the user asks for more.
const maxEmptyPages = 10
// Rows outside of the view that are read in advance, and rows that are kept.
const readAhead = 60
const keptAround = 600

/**
 * A log that loads on scroll, grows at its top, and keeps only the runs near the view. The first page always stays,
 * because it has no cursor and new runs are inserted into it.
 */
export class RunLog {
  readonly #readPage: ReadPage
  readonly #listeners = new Set<() => void>()
  readonly #closed = new AbortController()
  readonly #rereading = new Set<StoredPage>()
  #pages: StoredPage[] = []
  #waiting: Run[] = []
  #arrived = 0
  #emptyPages = 0
  #isHeld = false
  #isReading = false
  #inView = { first: 0, last: 0 }
  #error: unknown = null
  #view: LogView

  constructor(readPage: ReadPage) {
    this.#readPage = readPage
    this.#view = this.#createView()
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  snapshot = (): LogView => this.#view

  /** Starts to read, or continues after a failure or after many pages without a match. */
  async readMore(): Promise<void> {
    this.#emptyPages = 0
    if (this.#pages.at(-1)?.next !== null) return this.#readNext()
    // The log is read to its end: only a page near the view can be missing.
    this.#error = null
    this.#readAround()
    this.#notify()
  }

  /** Reads the log again from its start. The old runs stay until the first page has arrived. */
  async reload(): Promise<void> {
    await this.#read(undefined, page => {
      this.#pages = []
      this.#waiting = []
      this.#arrived = 0
      this.#inView = { first: 0, last: 0 }
      this.#append(page, undefined)
    })
  }

  setVisible(first: number, last: number): void {
    if (first === this.#inView.first && last === this.#inView.last) return
    this.#inView = { first, last }
    this.#readAround()
  }

  /** Adds runs that have just finished. */
  add(runs: readonly Run[]): void {
    const known = new Set([...this.#waiting, ...(this.#pages[0]?.runs ?? [])].map(({ id }) => id))
    const added = runs.filter(({ id }) => !known.has(id))
    if (added.length === 0) return
    this.#waiting.push(...added.slice(0, maxArrived - this.#waiting.length))
    if (this.#isHeld) this.#notify()
    else this.showWaiting()
  }

  /** Sets whether new runs are held back, because the user reads older ones or has paused the log. */
  setHeld(isHeld: boolean): void {
    this.#isHeld = isHeld
    if (!isHeld && this.#waiting.length > 0) this.showWaiting()
  }

  showWaiting(): void {
    if (this.#pages.length === 0) return
    const runs = this.#waiting
    this.#waiting = []
    for (const run of runs) this.#insert(run)
    if (this.#arrived >= maxArrived) void this.reload()
    this.#notify()
  }

  close(): void {
    this.#closed.abort()
  }

  async #readNext(): Promise<void> {
    const cursor = this.#pages.at(-1)?.next ?? undefined
    await this.#read(cursor, page => this.#append(page, cursor))
  }

  async #read(cursor: string | undefined, onPage: (page: RunPage) => void): Promise<void> {
    if (this.#isReading || this.#closed.signal.aborted) return
    this.#isReading = true
    this.#error = null
    this.#notify()
    try {
      onPage(await this.#readPage(cursor, this.#closed.signal))
    } catch (error) {
      this.#error = error
    }
    this.#isReading = false
    if (this.#closed.signal.aborted) return
    if (!this.#isHeld && this.#waiting.length > 0) this.showWaiting()
    this.#readAround()
    this.#notify()
  }

  #append({ data, next_cursor: next, from_storage: isFromStorage }: RunPage, cursor: string | undefined): void {
    this.#emptyPages = data.length === 0 ? this.#emptyPages + 1 : 0
    const last = this.#pages.at(-1)
    const page = { cursor, runs: data, length: data.length, next, isFromStorage }
    if (last?.length === 0) Object.assign(last, page)
    else if (last && data.length === 0) Object.assign(last, { next, isFromStorage })
    else this.#pages.push(page)
  }

  // Reads pages near the view and drops the runs of pages far from it.
  #readAround(): void {
    const { rowCount, state } = this.#createView()
    if (state === 'idle' && this.#inView.last + readAhead >= rowCount) void this.#readNext()
    let start = 0
    for (const [index, page] of this.#pages.entries()) {
      const distance = Math.max(start - this.#inView.last, this.#inView.first - (start + page.length))
      start += page.length
      if (page.runs === null && distance <= readAhead) void this.#readAgain(page)
      if (index > 0 && distance > keptAround) page.runs = null
    }
  }

  async #readAgain(page: StoredPage): Promise<void> {
    if (this.#rereading.has(page)) return
    this.#rereading.add(page)
    try {
      const { data } = await this.#readPage(page.cursor, this.#closed.signal)
      // Retention may have deleted some runs, and a long attempt may have been inserted.
      page.runs = data.slice(0, page.length)
      page.length = page.runs.length
    } catch (error) {
      this.#error = error
    }
    this.#rereading.delete(page)
    if (!this.#closed.signal.aborted) this.#notify()
  }

  #insert(run: Run): void {
    const [first] = this.#pages
    if (!first?.runs || first.runs.some(({ id }) => id === run.id)) return
    const at = first.runs.findIndex(({ id }) => id < run.id)
    // Older than what was read of this page: a later page contains it.
    if (at === -1 && first.next !== null && first.length > this.#arrived) return
    first.runs = first.runs.toSpliced(at === -1 ? first.runs.length : at, 0, run)
    first.length += 1
    this.#arrived += 1
  }

  #createView(): LogView {
    const pages = this.#pages.map(({ runs }) => runs)
    const starts: number[] = []
    let rowCount = 0
    for (const { length } of this.#pages) {
      starts.push(rowCount)
      rowCount += length
    }
    const runAt = (index: number) => {
      const at = starts.findLastIndex(start => start <= index)
      return pages[at]?.[index - (starts[at] ?? 0)]
    }
    const isFromStorage = this.#pages.at(-1)?.isFromStorage ?? false
    return { rowCount, runAt, waiting: this.#waiting.length, state: this.#state(), error: this.#error, isFromStorage }
  }

  #state(): LogView['state'] {
    const last = this.#pages.at(-1)
    if (this.#error !== null) return 'failed'
    if (last && last.next === null) return 'end'
    if (this.#emptyPages >= maxEmptyPages) return 'stopped'
    if (this.#pages.length >= maxPages) return 'full'
    return this.#isReading || !last ? 'reading' : 'idle'
  }

  #notify(): void {
    this.#view = this.#createView()
    for (const listener of this.#listeners) listener()
  }
}
