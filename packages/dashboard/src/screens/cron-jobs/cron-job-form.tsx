import type { CronJob } from '@belfry/contract'
import { type ReactNode, useRef, useState } from 'react'
import { createCronJob, updateCronJob } from '../../api/cron-jobs.ts'
import { Form } from '../../forms/form.tsx'
import styles from '../../forms/request/request.module.css'
import { changesOf } from '../../forms/request/request-draft.ts'
import { RequestFields } from '../../forms/request/request-fields.tsx'
import { RequestPreview } from '../../forms/request/request-preview.tsx'
import { RetryFields } from '../../forms/request/retry-fields.tsx'
import { useForm } from '../../forms/use-form.ts'
import { useLiveErrors } from '../../forms/use-live-errors.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { viewerZone } from '../../ui/format-time.ts'
import { type CronJobDraft, checkCronJob, cronJobBody, cronJobDraft, scheduleIn } from './cron-job-draft.ts'
import { OccurrenceFields, ScheduleFields } from './schedule-fields.tsx'
import { SchedulePreview } from './schedule-preview.tsx'

type CronJobFormProps = {
  workspaceId: string
  /** The cron job that is changed; without one a new one is made. */
  job?: CronJob
  backTo: string
  onDone(job: CronJob): unknown
}

/** A cron job's fields, with what they mean beside them. */
export function CronJobForm({ workspaceId, job, backTo, onDone }: CronJobFormProps): ReactNode {
  const [draft, setDraft] = useState(() => cronJobDraft(job, viewerZone()))
  const [refused, setRefused] = useState<string | null>(null)
  const key = useRef(crypto.randomUUID())
  const change = (part: Partial<CronJobDraft>) => {
    // Another cron job than the one that was tried before.
    key.current = crypto.randomUUID()
    setDraft(before => ({ ...before, ...part }))
  }
  const check = (typed: CronJobDraft) => ({
    ...(refused ? { cron: refused } : {}),
    ...checkCronJob(typed, job !== undefined, job !== undefined && job.payload !== null),
  })
  const form = useForm({
    read: () => draft,
    check,
    submit: typed => save(workspaceId, job, typed, key.current),
    onDone: saved => onDone(saved),
  })
  const { errors, onBlur } = useLiveErrors(check(draft), form.errors, draft)
  const fields = { draft, onChange: change, errors }
  return (
    <div className={styles.editor}>
      <Form
        form={form}
        onBlur={onBlur}
        action={job ? 'Save the changes' : 'Create the cron job'}
        more={<ButtonLink to={backTo}>Cancel</ButtonLink>}
      >
        <Card label="Name and schedule">
          <div className={styles.part}>
            <Field label="Name" error={errors.name}>
              <TextInput
                name="name"
                value={draft.name}
                onChange={event => change({ name: event.target.value })}
                placeholder="Daily report"
                autoComplete="off"
              />
            </Field>
            <ScheduleFields {...fields} />
          </div>
        </Card>
        <Card label="Preview of the schedule">
          <h2 className={styles.title}>When it fires</h2>
          <SchedulePreview workspaceId={workspaceId} schedule={scheduleIn(draft)} onRefusal={setRefused} />
        </Card>
        <Card label="Request">
          <div className={styles.part}>
            <RequestFields {...fields} />
          </div>
        </Card>
        <Card label="Timeout and retries">
          <div className={styles.part}>
            <RetryFields {...fields} />
          </div>
        </Card>
        <Card label="Occurrences">
          <div className={styles.part}>
            <OccurrenceFields {...fields} />
          </div>
        </Card>
      </Form>
      <aside className={styles.aside} aria-label="Preview">
        <RequestPreview draft={draft} facts={{ taskId: null, scheduledAt: null, isCron: true }} />
      </aside>
    </div>
  )
}

function save(workspaceId: string, job: CronJob | undefined, draft: CronJobDraft, key: string): Promise<CronJob> {
  const body = cronJobBody(draft)
  if (!job) return createCronJob(workspaceId, body, key)
  const changes = changesOf(body, job)
  return Object.keys(changes).length === 0 ? Promise.resolve(job) : updateCronJob(workspaceId, job.id, changes)
}
