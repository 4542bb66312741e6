import type { RunTimes } from '@belfry/contract'
import type { Occurrence } from '@belfry/domain'

/** The public form of a list of occurrences. */
export function presentRunTimes(occurrences: readonly Occurrence[]): RunTimes {
  return {
    next_runs: occurrences.map(({ atMs }) => new Date(atMs).toISOString()),
    notes: occurrences.flatMap(({ atMs, localMs, change }) =>
      change === null ? [] : [{ at: new Date(atMs).toISOString(), local: localText(localMs), code: change }],
    ),
  }
}

// What a clock on the wall shows has no offset.
function localText(localMs: number): string {
  return new Date(localMs).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length)
}
