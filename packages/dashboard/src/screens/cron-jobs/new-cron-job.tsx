import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useNavigate } from 'react-router'
import { PageFor } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { useToast } from '../../ui/toast.tsx'
import { CronJobForm } from './cron-job-form.tsx'

export function NewCronJob(): ReactNode {
  const { workspace, to } = useWorkspace()
  const client = useQueryClient()
  const navigate = useNavigate()
  const say = useToast()
  return (
    <>
      <PageHeader
        title="New cron job"
        description="The same request, again and again."
        parent={{ label: 'Cron jobs', to: to.cronJobs() }}
      />
      <PageFor right="cron_job.write">
        <CronJobForm
          workspaceId={workspace.id}
          backTo={to.cronJobs()}
          onDone={async job => {
            await client.invalidateQueries({ queryKey: ['cron-jobs', workspace.id] })
            say(`“${job.name}” is active.`)
            await navigate(to.cronJob(job.id))
          }}
        />
      </PageFor>
    </>
  )
}
