import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect } from 'react'
import { ApiProblem, messageOf } from '../../api/api-problem.ts'
import { queryOf } from '../../api/queries.ts'
import { classNames } from '../../ui/class-names.ts'
import { latePart } from '../../ui/late-part.tsx'
import { FormProblem } from '../../ui/problem.tsx'
import { Skeleton } from '../../ui/table.tsx'
import { useSettled } from '../../ui/use-settled.ts'
import styles from './cron-jobs.module.css'

// The API tells the runs.
const NextRuns = latePart(async () => (await import('./next-runs.tsx')).NextRuns)

export type Schedule = { cron: string; timezone: string; startsAt: Date | null; endsAt: Date | null }

// Serialized, so an equal schedule is the same one.
type Settled = { cron: string; timezone: string; startsAt: string | null; endsAt: string | null }

const typingMs = 300
const count = 6

type SchedulePreviewProps = { workspaceId: string; schedule: Schedule; onRefusal(message: string | null): void }

/** Explains an expression and lists its next runs. Reports to the form if the API rejects it. */
export function SchedulePreview({ workspaceId, schedule, onRefusal }: SchedulePreviewProps): ReactNode {
  const { cron, timezone, startsAt, endsAt }: Settled = JSON.parse(useSettled(JSON.stringify(schedule), typingMs))
  // The API also says why it refuses a name such as @daily.
  const isTyped = cron.trim().startsWith('@') || cron.trim().split(/\s+/).length >= 5
  const from = startsAt === null ? {} : { from: new Date(Date.parse(startsAt) - 1).toISOString() }
  const { data, error, isPlaceholderData } = useQuery({
    ...queryOf('previewCronJob', { ws: workspaceId, body: { cron: cron.trim(), timezone, count, ...from } }),
    enabled: isTyped,
  })
  const refusal = isTyped && error ? messageFor(error) : null
  useEffect(() => onRefusal(refusal), [refusal, onRefusal])
  if (!isTyped)
    return <p className={styles.faint}>Enter five fields: minute, hour, day of month, month, day of week.</p>
  if (refusal !== null) return <FormProblem problem={refusal} />
  if (!data) return <Skeleton />
  const runs = data.next_runs.filter(at => endsAt === null || Date.parse(at) < Date.parse(endsAt))
  return (
    <div className={classNames(isPlaceholderData && styles.stale)} aria-live="polite">
      <p className={styles.description}>{data.description}</p>
      {runs.length > 0 ? (
        <NextRuns runs={runs} notes={data.notes} timezone={timezone} />
      ) : (
        <p className={styles.faint}>No runs between the start and the end.</p>
      )}
    </div>
  )
}

function messageFor(error: Error): string {
  const messages = error instanceof ApiProblem ? Object.values(error.fields) : []
  return messages.length > 0 ? messages.join(' ') : messageOf(error)
}
