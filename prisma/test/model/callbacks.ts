import type { Rules } from './rules.ts'
import { cron, isFinished, plain, type Row, rowOf, type State, withRow } from './state.ts'
import type { Verb } from './steps.ts'

/** The callbacks of a task with one callback for each kind of outcome. */
export type Callbacks = { onAttempt: number; onSuccess: number; onFailure: number }

/** The trigger `store_callbacks`: the callbacks that an update of a row stores in its own statement. */
export function storedCallbacks({ callbacksOf }: Rules, before: Row, after: Row): Callbacks {
  const isMove =
    before.state !== after.state || before.attempts !== after.attempts || before.quarantined !== after.quarantined
  const isOfAttempt = before.state === 'processing' || before.quarantined
  const isEnd = ['success', 'dead', 'retrying'].includes(after.state) && !isFinished(before) && before.state !== 'none'
  if (!isMove || !isEnd || !(isOfAttempt || after.state === 'dead')) return { onAttempt: 0, onSuccess: 0, onFailure: 0 }
  // An undone claim leaves no run.
  const isRun = callbacksOf === 'every move' || before.attempts === after.attempts
  const isLate = callbacksOf !== 'recorded' && before.quarantined && after.reason === null
  return {
    onAttempt: isRun && (before.state === 'processing' || isLate) ? 1 : 0,
    onSuccess: after.state === 'success' ? 1 : 0,
    onFailure: after.state === 'dead' ? 1 : 0,
  }
}

const records: ReadonlySet<Verb> = new Set<Verb>(['succeed', 'fail', 'abandon'])

/**
 * Returns the state with the outcomes and the callbacks of a step compared, for each task. An attempt ends when it gets
 * its run, and again when a lost one is recorded late.
 */
export function withTriggers(rules: Rules, before: State, verb: Verb, after: State): State {
  if (verb === 'restore') return after
  let next = after
  for (const task of [plain, cron]) {
    const [was, is] = [rowOf(before, task), rowOf(after, task)]
    if (was === is || isFinished(was)) continue
    const attempts = is.runs !== was.runs || (records.has(verb) && was.state === 'retrying') ? 1 : 0
    const ends = is.state !== was.state && (is.state === 'success' || is.state === 'dead') ? 1 : 0
    const { onAttempt, onSuccess, onFailure } = storedCallbacks(rules, was, is)
    const missing = attempts + ends - (onAttempt + onSuccess + onFailure)
    if (missing !== 0) next = withRow(next, task, { ...is, missingCallbacks: is.missingCallbacks + missing })
  }
  return next
}
