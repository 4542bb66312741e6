import type { RowResult } from './row.ts'

/** Formats a result as one line, with the notes and complaints below. */
export function describeResult({ row, status, complaints, notes, ...seen }: RowResult): string {
  const counts = `${seen.tasks} tasks, ${seen.hits} hits, ${seen.repeats} repeated`
  const times = `at most ${(seen.latenessMs / 1000).toFixed(1)} s late, ${(seen.durationMs / 1000).toFixed(0)} s`
  const head = `${row.id}  ${status.padEnd(7)}  ${row.fault} (${row.moment}): ${counts}, ${times}`
  return [head, ...notes.map(note => `     ${note}`), ...complaints.map(text => `     ! ${text}`)].join('\n')
}
