import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useNavigate, useParams } from 'react-router'
import { cronJobQuery } from '../../api/cron-jobs.ts'
import { PageFor } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Skeleton } from '../../ui/table.tsx'
import { useToast } from '../../ui/toast.tsx'
import { CronJobForm } from './cron-job-form.tsx'

export function EditCronJob(): ReactNode {
  const { workspace, to } = useWorkspace()
  const { cronJob: id = '' } = useParams()
  const client = useQueryClient()
  const navigate = useNavigate()
  const say = useToast()
  const { data: job, error, refetch } = useQuery(cronJobQuery(workspace.id, id))
  return (
    <>
      <PageHeader
        title="Edit cron job"
        description="Another schedule replaces the occurrences that have not started."
        parent={{ label: job?.name ?? 'Cron job', to: to.cronJob(id) }}
      />
      <PageFor right="cron_job.write">
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {!job && !error && <Skeleton />}
        {job && (
          <CronJobForm
            workspaceId={workspace.id}
            job={job}
            backTo={to.cronJob(id)}
            onDone={async saved => {
              client.setQueryData(cronJobQuery(workspace.id, id).queryKey, saved)
              await client.invalidateQueries({ queryKey: ['cron-jobs', workspace.id] })
              say('The changes are saved.')
              await navigate(to.cronJob(id))
            }}
          />
        )}
      </PageFor>
    </>
  )
}
