import type { Question } from './scopes.ts'
import { type Found, search } from './search.ts'
import { type Queue, type Row, rowOf, type State, type Stored, stranger } from './state.ts'

/** A row before a statement, with the other inputs of the statement. */
export type Situation = { task: number; row: Row; cronJob: Stored['cronJob']; workspace: Stored['workspace'] }

/** The rows of a process before its end; null for a task that it has not claimed. */
export type EndSituation = { rows: readonly [Row | null, Row | null]; who: number; hasJournal: boolean }

/** The rows of a queue before a statement. */
export type QueueSituation = { rows: State['rows']; queue: Queue }

const explored = new Map<Question, Found>()
const situations = new Map<string, Situation>()
const ends = new Map<string, EndSituation>()
const queues = new Map<string, QueueSituation>()

/** Runs a search, and collects the situations that it reaches. */
export function explore(question: Question): Found {
  const found = explored.get(question) ?? search(question, null, collect)
  explored.set(question, found)
  return found
}

/** Returns all distinct situations that the searches for these questions reach. */
export function situationsOf(questions: readonly Question[]): { situations: Situation[]; ends: EndSituation[] } {
  for (const question of questions) explore(question)
  return { situations: [...situations.values()], ends: [...ends.values()] }
}

/** Returns all distinct pairs of rows that a search with a queue reaches, and the state of the queue. */
export function queueSituationsOf(question: Question): QueueSituation[] {
  explore(question)
  return [...queues.values()].filter(({ queue }) => queue.limit === question.scope.queue)
}

function collect(state: State): void {
  if (state.queue.limit !== 'none') {
    collectQueue(state)
    return
  }
  for (let task = 0; task < state.rows.length; task++) collectSituation(state, task)
  for (let who = 0; who <= stranger; who++) collectEnd(state, who)
}

function collectQueue({ rows, queue }: State): void {
  const key = `${Object.values(queue).join()} ${textOf(rows[0])} ${textOf(rows[1])}`
  if (!queues.has(key)) queues.set(key, { rows, queue })
}

function collectSituation(state: State, task: number): void {
  const row = rowOf(state, task)
  const { cronJob, workspace } = state
  const key = `${task} ${cronJob} ${workspace} ${textOf(row)}`
  if (row.state !== 'none' && !situations.has(key)) situations.set(key, { task, row, cronJob, workspace })
}

function collectEnd(state: State, who: number): void {
  const [one, other] = state.rows.map(row => (row.state === 'processing' && row.by === who ? row : null))
  if (!one && !other) return
  const hasJournal = state.processes[who]?.isEntered ?? false
  const key = `${who} ${hasJournal} ${one ? textOf(one) : ''} ${other ? textOf(other) : ''}`
  if (!ends.has(key)) ends.set(key, { rows: [one ?? null, other ?? null], who, hasJournal })
}

const texts = new WeakMap<Row, string>()

function textOf(row: Row): string {
  const known = texts.get(row)
  if (known) return known
  const {
    sent: _,
    mayNotStart: __,
    startedSinceBackup: ___,
    expiredSinceBackup: ____,
    missingCallbacks: _____,
    ...stored
  } = row
  const text = Object.values(stored).join()
  texts.set(row, text)
  return text
}
