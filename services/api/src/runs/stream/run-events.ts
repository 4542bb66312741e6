import { toId } from '@belfry/domain/id'
import { presentRun } from '@belfry/present/present-run'
import { toJsonText } from '@belfry/present/raw-json'
import type { RunRow } from '@belfry/present/run-row'
import type { Context } from '../../context.ts'
import { runsAfter, type SomeRuns } from './follow-runs.ts'

const heartbeatMs = 15_000
const checkMs = 2_000
// The characters of the events that are buffered for a slow listener; beyond them its stream ends.
const maxWaiting = 2_000_000

export type Watch = {
  workspaceIds: readonly string[]
  /** The id of the last event that the caller has received. */
  after: string | undefined
  /** Rejects when the caller may no longer listen. */
  check(): Promise<unknown>
  /** Aborted when the caller disconnects or this process is to stop. */
  over: AbortSignal
}

/** Yields the new runs of some workspaces as server-sent events, until the caller disconnects or loses the right to see them. */
export async function* runEvents(ctx: Context, { workspaceIds, after, check, over }: Watch): AsyncGenerator<string> {
  const waiting: string[] = []
  let waitingLength = 0
  const sent = new Set<string>()
  let wake = () => {}
  const stops = workspaceIds.map(workspaceId =>
    ctx.runTails.listen(workspaceId, ({ runs, omitted, upTo }) => {
      if (waitingLength > maxWaiting) return
      const events = runs.filter(({ id }) => !sent.has(id)).map(run => toEvent(run, upTo))
      if (omitted > 0) events.push(toOmitted(omitted, upTo))
      waiting.push(...events)
      waitingLength += events.reduce((sum, { length }) => sum + length, 0)
      wake()
    }),
  )
  const onOver = () => wake()
  over.addEventListener('abort', onOver)
  try {
    yield 'retry: 2000\n\n'
    if (after !== undefined) {
      const { runs, omitted } = await backlog(ctx, workspaceIds, after)
      for (const run of runs) {
        sent.add(run.id)
        yield toEvent(run, after)
      }
      if (omitted > 0) yield toOmitted(omitted, after)
    }
    let checkedAt = performance.now()
    let beatAt = checkedAt
    while (!over.aborted && waitingLength <= maxWaiting) {
      if (performance.now() - checkedAt >= checkMs) {
        if (!(await isAllowed(check))) return
        checkedAt = performance.now()
      }
      if (waiting.length > 0 || performance.now() - beatAt >= heartbeatMs) {
        waitingLength = 0
        yield waiting.splice(0).join('') || ': still here\n\n'
        beatAt = performance.now()
        continue
      }
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, checkMs)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  } finally {
    over.removeEventListener('abort', onOver)
    for (const stop of stops) stop()
  }
}

async function backlog(ctx: Context, workspaceIds: readonly string[], after: string): Promise<SomeRuns> {
  const all: SomeRuns = { runs: [], omitted: 0 }
  for (const workspaceId of workspaceIds) {
    const { runs, omitted } = await runsAfter(ctx.pool, workspaceId, after)
    all.runs.push(...runs)
    all.omitted += omitted
  }
  all.runs.sort((a, b) => (a.id < b.id ? -1 : 1))
  return all
}

// The id of the event is not that of the run: it is the id up to which a returning listener misses nothing.
function toEvent(run: RunRow, upTo: string): string {
  return `id: ${toId('run', upTo)}\nevent: run\ndata: ${toJsonText(presentRun(run))}\n\n`
}

function toOmitted(count: number, upTo: string): string {
  return `id: ${toId('run', upTo)}\nevent: omitted\ndata: ${JSON.stringify({ count })}\n\n`
}

async function isAllowed(check: Watch['check']): Promise<boolean> {
  return check().then(
    () => true,
    () => false, // also when the check fails
  )
}
