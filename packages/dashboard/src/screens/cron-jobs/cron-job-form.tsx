import type { CronJob } from '@belfry/contract/cron-job'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { useNavigate, useParams, useSearchParams } from 'react-router'
import { ApiProblem, messageOf } from '../../api/api-problem.ts'
import { call } from '../../api/call.ts'
import { queryOf } from '../../api/queries.ts'
import { type DraftProps, draftInput } from '../../forms/draft-input.ts'
import { LabelsField, MaxAgeField } from '../../forms/request/flow-fields.tsx'
import { FoldedCard } from '../../forms/request/folded-fields.tsx'
import styles from '../../forms/request/request.module.css'
import { changesOf } from '../../forms/request/request-draft.ts'
import { FormCard, RequestForm } from '../../forms/request/request-form.tsx'
import { useDraftForm } from '../../forms/use-draft-form.ts'
import { allZones } from '../../forms/when/zoned-time.ts'
import { PageFor } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Card } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { viewerZone } from '../../ui/format-time.ts'
import { latePart } from '../../ui/late-part.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { FormProblem } from '../../ui/problem.tsx'
import { Suggestions } from '../../ui/suggestions.tsx'
import { Skeleton } from '../../ui/table.tsx'
import { useSettled } from '../../ui/use-settled.ts'
import {
  type CronJobDraft,
  checkCronJob,
  cronJobBody,
  cronJobDraft,
  previewStart,
  type Schedule,
  scheduleIn,
  usesRules,
} from './cron-job-draft.ts'
import own from './cron-jobs.module.css'

/** Creates a cron job, or with `?from=` a copy of one. */
export function NewCronJob() {
  const { workspace, to } = useWorkspace()
  const [params] = useSearchParams()
  const from = params.get('from') ?? ''
  const query = useQuery({ ...queryOf('getCronJob', { ws: workspace.id, cronjob: from }), enabled: from !== '' })
  return (
    <>
      <PageHeader
        title="New cron job"
        description="Send the same request on a schedule."
        parent={{ label: 'Cron jobs', to: to.cronJobs() }}
      />
      <PageFor right="cron_job.write">
        {from === '' && <CronJobForm backTo={to.cronJobs()} />}
        {from !== '' && (
          <Loaded query={query}>{model => <CronJobForm key={from} model={model} backTo={to.cronJobs()} />}</Loaded>
        )}
      </PageFor>
    </>
  )
}

export function EditCronJob() {
  const { workspace, to } = useWorkspace()
  const { cronJob: id = '' } = useParams()
  const query = useQuery(queryOf('getCronJob', { ws: workspace.id, cronjob: id }))
  return (
    <>
      <PageHeader
        title="Edit cron job"
        description="A new schedule replaces the occurrences that have not started."
        parent={{ label: query.data?.name ?? 'Cron job', to: to.cronJob(id) }}
      />
      <PageFor right="cron_job.write">
        <Loaded query={query}>{job => <CronJobForm job={job} backTo={to.cronJob(id)} />}</Loaded>
      </PageFor>
    </>
  )
}

type CronJobFormProps = {
  /** The cron job to edit. */
  job?: CronJob
  /** The cron job to copy. */
  model?: CronJob | undefined
  backTo: string
}

function CronJobForm({ backTo, ...given }: CronJobFormProps) {
  // A draft is compared with what it began with: another tab may change the cron job in the meantime.
  const [{ job, model }] = useState(given)
  const { workspace, to } = useWorkspace()
  const navigate = useNavigate()
  const [initial] = useState(() => cronJobDraft(job ?? model, viewerZone()))
  const [refusal, setRefusal] = useState<string | null>(null)
  const state = useDraftForm({
    initial,
    check: draft => ({
      ...checkCronJob(draft, job !== undefined && job.payload !== null),
      ...(refusal ? { cron: refusal } : {}),
    }),
    submit: (draft, at) => save(workspace.id, job, draft, at),
    onDone: saved => navigate(to.cronJob(saved.id)),
    done: () => (job ? 'Changes saved' : 'Cron job created'),
  })
  const { draft, onChange } = state
  const schedule = useMemo(() => scheduleIn(draft, new Date()), [draft]) // a refusal shows the form again
  return (
    <RequestForm
      state={state}
      action={job ? 'Save changes' : 'Create cron job'}
      backTo={backTo}
      facts={{ taskId: null, scheduledAt: null, isCron: true }}
      more={
        <FoldedCard summary="Overlap, start, end, deadline and labels" isOpenAtFirst={usesRules(initial)}>
          <OccurrenceFields draft={draft} onChange={onChange} />
          <MaxAgeField draft={draft} onChange={onChange} />
          <LabelsField draft={draft} onChange={onChange} />
        </FoldedCard>
      }
    >
      <FormCard label="Name and schedule">
        <TextField
          label="Name"
          name="name"
          {...draftInput(draft, 'name', onChange)}
          placeholder="Daily report"
          autoFocus={!job}
        />
        <ScheduleFields draft={draft} onChange={onChange} />
      </FormCard>
      <Card label="Schedule preview">
        <h2 className={styles.title}>Schedule preview</h2>
        <SchedulePreview schedule={schedule} onRefusal={setRefusal} />
      </Card>
    </RequestForm>
  )
}

// Most forms keep them folded.
const OccurrenceFields = latePart(async () => (await import('./occurrence-fields.tsx')).OccurrenceFields)

function save(ws: string, job: CronJob | undefined, draft: CronJobDraft, at: Date): Promise<CronJob> {
  const body = cronJobBody(draft, at)
  if (!job) return call('createCronJob', { ws, body })
  const changes = changesOf(body, job)
  if (Object.keys(changes).length === 0) return Promise.resolve(job)
  return call('updateCronJob', { ws, cronjob: job.id, body: changes })
}

const presets = {
  'Every 5 minutes': '*/5 * * * *',
  'Every hour': '0 * * * *',
  'Every day at 9:00': '0 9 * * *',
  'Weekdays at 9:00': '0 9 * * 1-5',
  'Mondays at 9:00': '0 9 * * 1',
  'First of the month': '0 0 1 * *',
  'Last day of the month': '0 9 L * *',
  'First Monday': '0 9 * * MON#1',
  'Last Friday': '0 9 * * FRIL',
}

function ScheduleFields({ draft, onChange }: DraftProps<CronJobDraft>) {
  const zones = useMemo(() => allZones(viewerZone(), draft.timezone), [draft.timezone])
  return (
    <>
      <div className={own.expression}>
        <TextField
          label="Cron expression"
          hint="Minute, hour, day of month, month, day of week."
          name="cron"
          isMono
          {...draftInput(draft, 'cron', onChange)}
          placeholder="0 9 * * 1-5"
        />
        <SelectField label="Time zone" name="timezone" {...draftInput(draft, 'timezone', onChange)} options={zones} />
      </div>
      <Suggestions label="Common schedules" choices={presets} onChoose={cron => onChange({ cron })} />
    </>
  )
}

// The API tells the runs.
const NextRuns = latePart(async () => (await import('./next-runs.tsx')).NextRuns)

const typingMs = 300
const count = 6

type SchedulePreviewProps = { schedule: Schedule; onRefusal(message: string | null): void }

/** Explains an expression and lists its next runs. Reports to the form if the API rejects it. */
function SchedulePreview({ schedule, onRefusal }: SchedulePreviewProps) {
  const { workspace } = useWorkspace()
  // Serialized, so an equal schedule is the same one.
  const { cron, timezone, startsAt, endsAt }: Schedule = JSON.parse(useSettled(JSON.stringify(schedule), typingMs))
  // The API also says why it refuses a name such as @daily.
  const isTyped = cron.trim().startsWith('@') || cron.trim().split(/\s+/).length >= 5
  const body = { cron: cron.trim(), timezone, count, ...previewStart(startsAt, new Date()) }
  const { data, error, isPlaceholderData } = useQuery({
    ...queryOf('previewCronJob', { ws: workspace.id, body }),
    enabled: isTyped,
  })
  const refusal = isTyped && error ? messageFor(error) : null
  useEffect(() => onRefusal(refusal), [refusal, onRefusal])
  if (!isTyped) return <p className={own.faint}>Enter five fields: minute, hour, day of month, month, day of week.</p>
  if (refusal !== null) return <FormProblem problem={refusal} />
  if (!data) return <Skeleton />
  const runs = data.next_runs.filter(at => endsAt === null || Date.parse(at) < Date.parse(endsAt))
  return (
    <div className={classNames(isPlaceholderData && own.stale)} aria-live="polite">
      <p className={own.description}>{data.description}</p>
      {runs.length > 0 ? (
        <NextRuns runs={runs} notes={data.notes} timezone={timezone} />
      ) : (
        <p className={own.faint}>No runs between the start and the end.</p>
      )}
    </div>
  )
}

function messageFor(error: Error): string {
  const messages = error instanceof ApiProblem ? Object.values(error.fields) : []
  return messages.length > 0 ? messages.join(' ') : messageOf(error)
}
