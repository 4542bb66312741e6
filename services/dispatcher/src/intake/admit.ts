import type { Claim } from '@belfry/db'
import { failpoint } from '@belfry/runtime'
import type { Context } from '../context.ts'
import { type Claimed, dispatch } from '../dispatch.ts'
import { positionBefore } from './backlog.ts'
import { giveBack } from './give-back.ts'
import type { TaskInHand } from './hand.ts'
import type { Verdict } from './host-health.ts'
import type { Turn } from './lines.ts'
import {
  type Asked,
  abandonClaim,
  askForClaim,
  isOutdated,
  prefetch,
  releaseClaim,
  undoPrefetched,
} from './prefetch.ts'
import { targetOf } from './target-of.ts'
import { tellRest } from './tell-rest.ts'
import { verdictOf } from './verdict-of.ts'

const busyPauseMs = 20
// A task whose time was moved to later than this is not waited for in the process.
const longestDelayMs = 2_000
// A job brings its tasks a second ahead at most. Whatever is earlier is looked at again after this long.
const longestWaitMs = 60_000

/**
 * Takes tasks in hand and starts those whose turn it is. What there is no room for stays in PostgreSQL until there is.
 * @returns How many were taken, and how many were left.
 */
export function admit(ctx: Context, tasks: readonly TaskInHand[]): { taken: number; refused: number } {
  const count = { taken: 0, refused: 0 }
  for (const task of tasks) {
    const inHand = ctx.hand.take(task)
    if (inHand === 'full') {
      ctx.backlog.note(task.workspace, task.dueAt, positionBefore(task))
      count.refused++
    } else if (inHand !== 'known') {
      lineUp(ctx, inHand)
      count.taken++
    }
  }
  startAttempts(ctx)
  return count
}

/**
 * Lets a task in hand wait for its instant, and then in line. Timers are whole milliseconds and may fire a little before
 * their time; the claim answers "early" then.
 */
export function lineUp(ctx: Context, task: TaskInHand): void {
  const now = ctx.clock.now()
  if (task.dueAt <= now) ctx.lines.add(task)
  else ctx.waiting.add(task, Math.min(task.dueAt, now + longestWaitMs), due => startDue(ctx, due))
}

function startDue(ctx: Context, tasks: readonly TaskInHand[]): void {
  for (const task of tasks) ctx.lines.add(task)
  startAttempts(ctx)
}

/** Starts the attempts whose turn it is. */
export function startAttempts(ctx: Context): void {
  while (!ctx.stop.aborted && ctx.attempts.haveRoom) {
    const turn = ctx.lines.next()
    if (!turn) return
    ctx.attempts.track(attempt(ctx, turn), () => startAttempts(ctx))
  }
}

// The next call need not wait until this one is recorded.
async function attempt(ctx: Context, turn: Turn<TaskInHand>): Promise<void> {
  try {
    if (__FAILPOINTS__) await failpoint('dispatcher.before_claim')
    const claimed = await claim(ctx, turn.task)
    if (!claimed) return
    await dispatch(ctx, claimed, outcome => {
      endTurn(ctx, turn, verdictOf(outcome))
      startAttempts(ctx)
      prefetch(ctx, turn.upcoming())
    }).finally(() => releaseClaim(ctx, turn.task))
    ctx.journal.close(claimed.task.runId)
  } finally {
    endTurn(ctx, turn, null)
  }
}

function endTurn(ctx: Context, turn: Turn<TaskInHand>, verdict: Verdict): void {
  const { change, restsUntil } = turn.end(verdict)
  if (change) arrangeRest(ctx, turn.task, restsUntil)
}

// When its turn has come and it is claimed, a task is no more in hand but under way: what becomes of it is up to its
// attempt. While the database is away nothing can be claimed, so it stays in hand, with its places.
async function claim(ctx: Context, task: TaskInHand): Promise<Claimed | null> {
  try {
    task.asked ??= askForClaim(ctx, task)
    const { asked } = task
    const answer = await asked.claim
    if (answer.kind === 'claimed' && !(await mayStart(ctx, answer, asked))) {
      for (const waiting of await undoPrefetched(ctx, [task])) await lineUpAgain(ctx, waiting)
      return null
    }
    task.asked = undefined
    if (answer.kind !== 'busy' && answer.kind !== 'claimed') releaseClaim(ctx, task)
    if (answer.kind === 'claimed' || answer.kind === 'gone') {
      ctx.hand.letGo(task)
      return answer.kind === 'claimed' ? answer : null
    }
    await tryAgain(ctx, task, answer)
  } catch (error) {
    ctx.hand.letGo(task)
    abandonClaim(ctx, task)
    if (!ctx.stop.aborted) throw error
    await giveBack(ctx, [task])
  }
  return null
}

// A prefetched claim that is too old may have been undone by another process.
async function mayStart(ctx: Context, claimed: Claimed, asked: Asked): Promise<boolean> {
  if (isOutdated(claimed, asked)) return false
  return !claimed.task.prefetched || ctx.journal.enter(claimed.task.runId, asked.session)
}

// The task's time was moved to later than its job said, its target was changed, another transaction holds its row, or it
// has to wait for its slot before it is claimed.
async function tryAgain(
  ctx: Context,
  task: TaskInHand,
  answer: Extract<Claim, { kind: 'early' | 'busy' | 'moved' | 'not_prefetchable' }>,
): Promise<void> {
  if (answer.kind === 'early') task.dueAt = ctx.clock.now() + answer.dueInMs
  if (answer.kind === 'busy') task.dueAt = ctx.clock.now() + busyPauseMs
  if (answer.kind === 'moved') Object.assign(task, targetOf(answer.origin))
  await lineUpAgain(ctx, task)
}

async function lineUpAgain(ctx: Context, task: TaskInHand): Promise<void> {
  const isSoon = task.dueAt - ctx.clock.now() <= longestDelayMs
  if (isSoon && !ctx.stop.aborted) lineUp(ctx, task)
  else await giveBack(ctx, [task]) // its new time has a job of its own, unless that was lost
}

function arrangeRest(ctx: Context, task: TaskInHand, restsUntil: number | null): void {
  const restMs = restsUntil === null ? null : Math.ceil(restsUntil - performance.now())
  tellRest(ctx, task, restMs)
  if (restMs === null) return
  const wake = () => {
    ctx.lines.wake(task.host)
    startAttempts(ctx)
  }
  setTimeout(wake, restMs + 1).unref()
}
