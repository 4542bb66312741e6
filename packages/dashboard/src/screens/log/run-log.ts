import type { Page, Run } from '@belfry/contract'

/** How a log is read and how much of it is kept. */
export type RunLogOptions = {
  /** Reads the page that begins at a cursor; the first one without. */
  readPage(cursor: string | undefined, signal: AbortSignal): Promise<Page<Run>>
  /** Where scrolling ends: browsers cannot show elements of any height. Default: 1,000 pages. */
  mostPages?: number
  /** Runs that have arrived since the first page was read, before it is read anew. Default: 300. */
  mostArrived?: number
}

/** What a log shows at one moment. */
export type LogView = {
  rowCount: number
  /** Undefined while the page that it stands on is read again. */
  runAt(index: number): Run | undefined
  /** New runs that are held back. */
  waiting: number
  /**
   * `reading` more; `idle` until it is scrolled on; `resting` after many pages in which a rare filter found nothing;
   * `full` where scrolling ends though the log goes on; `end`; `failed` with an error.
   */
  state: 'reading' | 'idle' | 'resting' | 'full' | 'end' | 'failed'
  error: unknown
}

/** Of a page that is far from the view only its place is kept. */
type StoredPage = { cursor: string | undefined; runs: readonly Run[] | null; length: number; next: string | null }

// Pages in which a filter finds nothing, until somebody has to ask for more.
const mostBarren = 10
// Rows beyond the view that are read before they are needed, and those that are kept.
const readAhead = 60
const keptAround = 600

/**
 * A log that is read as it is scrolled and grows at its top, of which only what is near the view is kept. Its first page
 * has no cursor, so it is never let go: new runs are sorted into it.
 */
export class RunLog {
  readonly #options: Required<RunLogOptions>
  readonly #listeners = new Set<() => void>()
  readonly #closed = new AbortController()
  readonly #rereading = new Set<StoredPage>()
  #pages: StoredPage[] = []
  #waiting: Run[] = []
  #arrived = 0
  #barren = 0
  #isHeld = false
  #isReading = false
  #inView = { first: 0, last: 0 }
  #error: unknown = null
  #view: LogView

  constructor({ readPage, mostPages = 1000, mostArrived = 300 }: RunLogOptions) {
    this.#options = { readPage, mostPages, mostArrived }
    this.#view = this.#describe()
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  snapshot = (): LogView => this.#view

  /** Begins to read, or goes on: after a failure, or where nothing was found for long. */
  async readOn(): Promise<void> {
    this.#barren = 0
    const cursor = this.#pages.at(-1)?.next ?? undefined
    await this.#read(cursor, page => this.#append(page, cursor))
  }

  /** Reads everything anew; what is shown stays until it has come. */
  async restart(): Promise<void> {
    await this.#read(undefined, page => {
      this.#pages = []
      this.#waiting = []
      this.#arrived = 0
      this.#inView = { first: 0, last: 0 }
      this.#append(page, undefined)
    })
  }

  /** Says which rows are in view. */
  look(first: number, last: number): void {
    if (first === this.#inView.first && last === this.#inView.last) return
    this.#inView = { first, last }
    this.#advance()
  }

  /** Takes a run that has just ended. */
  arrive(run: Run): void {
    const known = [...this.#waiting, ...(this.#pages[0]?.runs ?? [])]
    if (known.some(({ id }) => id === run.id)) return
    if (this.#waiting.length < this.#options.mostArrived) this.#waiting.push(run)
    if (this.#isHeld) this.#tell()
    else this.release()
  }

  /** Says whether new runs wait, for whoever reads or has paused, or appear. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld
    if (!isHeld && this.#waiting.length > 0) this.release()
  }

  /** Shows the new runs that wait. */
  release(): void {
    if (this.#pages.length === 0) return
    const runs = this.#waiting
    this.#waiting = []
    for (const run of runs) this.#sortIn(run)
    if (this.#arrived >= this.#options.mostArrived) void this.restart()
    this.#tell()
  }

  close(): void {
    this.#closed.abort()
  }

  async #read(cursor: string | undefined, onPage: (page: Page<Run>) => void): Promise<void> {
    if (this.#isReading || this.#closed.signal.aborted) return
    this.#isReading = true
    this.#error = null
    this.#tell()
    try {
      onPage(await this.#options.readPage(cursor, this.#closed.signal))
    } catch (error) {
      this.#error = error
    }
    this.#isReading = false
    if (this.#closed.signal.aborted) return
    if (!this.#isHeld && this.#waiting.length > 0) this.release()
    this.#advance()
    this.#tell()
  }

  #append({ data, next_cursor: next }: Page<Run>, cursor: string | undefined): void {
    this.#barren = data.length === 0 ? this.#barren + 1 : 0
    const last = this.#pages.at(-1)
    if (last && data.length === 0) last.next = next
    else this.#pages.push({ cursor, runs: data, length: data.length, next })
  }

  // Does what the place of the view asks for: reads on, reads again, lets go.
  #advance(): void {
    const { rowCount, state } = this.#describe()
    if (state === 'idle' && this.#inView.last + readAhead >= rowCount) {
      const cursor = this.#pages.at(-1)?.next ?? undefined
      void this.#read(cursor, page => this.#append(page, cursor))
    }
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
      const { data } = await this.#options.readPage(page.cursor, this.#closed.signal)
      // Retention may have taken some, and one that was under way for long may have come in between.
      page.runs = data.slice(0, page.length)
      page.length = page.runs.length
    } catch (error) {
      this.#error = error
    }
    this.#rereading.delete(page)
    if (!this.#closed.signal.aborted) this.#tell()
  }

  #sortIn(run: Run): void {
    const [first] = this.#pages
    if (!first?.runs || first.runs.some(({ id }) => id === run.id)) return
    const at = first.runs.findIndex(({ id }) => id < run.id)
    // Older than the whole page: it stands further down, where it is found on the way.
    if (at === -1 && first.next !== null) return
    first.runs = first.runs.toSpliced(at === -1 ? first.runs.length : at, 0, run)
    first.length += 1
    this.#arrived += 1
  }

  #describe(): LogView {
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
    return { rowCount, runAt, waiting: this.#waiting.length, state: this.#state(), error: this.#error }
  }

  #state(): LogView['state'] {
    const last = this.#pages.at(-1)
    if (this.#error !== null) return 'failed'
    if (last && last.next === null) return 'end'
    if (this.#barren >= mostBarren) return 'resting'
    if (this.#pages.length >= this.#options.mostPages) return 'full'
    return this.#isReading || !last ? 'reading' : 'idle'
  }

  #tell(): void {
    this.#view = this.#describe()
    for (const listener of this.#listeners) listener()
  }
}
