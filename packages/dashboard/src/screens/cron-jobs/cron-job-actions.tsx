import type { CronJob } from '@belfry/contract/cron-job'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { CopyPlus, Ellipsis, Pause, Pencil, Play, Trash2, Zap } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useNavigate } from 'react-router'
import { cronJobQuery, deleteCronJob, pauseCronJob, resumeCronJob, triggerCronJob } from '../../api/cron-jobs.ts'
import type { WorkspacePaths } from '../../paths.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { Button, ButtonLink, IconButton } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Problem } from '../../ui/problem.tsx'
import { useToast } from '../../ui/toast.tsx'

type CronJobActionsProps = { workspaceId: string; job: CronJob; to: WorkspacePaths }

/** The actions of a cron job. */
export function CronJobActions(props: CronJobActionsProps): ReactNode {
  const { job, to } = props
  const mayNotWrite = useRefusal('cron_job.write')
  const mayNotDelete = useRefusal('cron_job.delete')
  const [isDeleting, setIsDeleting] = useState(false)
  return (
    <>
      <TriggerButton {...props} />
      {job.status !== 'ended' && <PauseButton {...props} />}
      <ButtonLink to={to.editCronJob(job.id)} icon={<Pencil size={15} />} refusal={mayNotWrite}>
        Edit
      </ButtonLink>
      <Menu
        align="end"
        trigger={<IconButton kind="secondary" label="More" icon={<Ellipsis size={16} aria-hidden="true" />} />}
      >
        <MenuItem icon={<CopyPlus size={15} />} to={to.newCronJob(job.id)} refusal={mayNotWrite}>
          Duplicate
        </MenuItem>
        <MenuItem icon={<Trash2 size={15} />} isDangerous refusal={mayNotDelete} onSelect={() => setIsDeleting(true)}>
          Delete
        </MenuItem>
      </Menu>
      {isDeleting && <DeleteDialog {...props} onClose={() => setIsDeleting(false)} />}
    </>
  )
}

function TriggerButton({ workspaceId, job, to }: CronJobActionsProps): ReactNode {
  const client = useQueryClient()
  const navigate = useNavigate()
  const toast = useToast()
  const refusal = useRefusal('cron_job.write')
  const trigger = useMutation({
    mutationFn: () => triggerCronJob(workspaceId, job.id),
    onSuccess: async task => {
      await client.invalidateQueries({ queryKey: ['tasks', workspaceId] })
      toast('Triggered as a new task')
      await navigate(to.task(task.id))
    },
    onError: error => toast(error.message, 'bad'),
  })
  return (
    <Button icon={<Zap size={15} />} refusal={refusal} isPending={trigger.isPending} onClick={() => trigger.mutate()}>
      Trigger now
    </Button>
  )
}

// Shows the new status immediately and restores the old one if the API rejects the change.
function PauseButton({ workspaceId, job }: CronJobActionsProps): ReactNode {
  const client = useQueryClient()
  const toast = useToast()
  const refusal = useRefusal('cron_job.write')
  const { queryKey } = cronJobQuery(workspaceId, job.id)
  const isPaused = job.status === 'paused'
  const toggle = useMutation({
    mutationFn: () => (isPaused ? resumeCronJob : pauseCronJob)(workspaceId, job.id),
    async onMutate() {
      await client.cancelQueries({ queryKey })
      client.setQueryData(queryKey, {
        ...job,
        status: isPaused ? 'active' : 'paused',
        next_runs: [],
        next_run_at: null,
      })
      return { before: job }
    },
    onSuccess: changed => client.setQueryData(queryKey, changed),
    onError(error, _variables, context) {
      if (context) client.setQueryData(queryKey, context.before)
      toast(error.message, 'bad')
    },
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ['cron-jobs', workspaceId] }),
        client.invalidateQueries({ queryKey: ['tasks', workspaceId] }),
      ]),
  })
  return (
    <Button
      icon={isPaused ? <Play size={15} /> : <Pause size={15} />}
      refusal={refusal}
      isPending={toggle.isPending}
      onClick={() => toggle.mutate()}
    >
      {isPaused ? 'Resume' : 'Pause'}
    </Button>
  )
}

function DeleteDialog({ workspaceId, job, to, onClose }: CronJobActionsProps & { onClose(): void }): ReactNode {
  const client = useQueryClient()
  const navigate = useNavigate()
  const toast = useToast()
  const remove = useMutation({
    mutationFn: () => deleteCronJob(workspaceId, job.id),
    onSuccess: async () => {
      toast('Cron job deleted')
      await navigate(to.cronJobs())
      client.removeQueries({ queryKey: cronJobQuery(workspaceId, job.id).queryKey })
      await client.invalidateQueries({ queryKey: ['cron-jobs', workspaceId] })
    },
  })
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title="Delete this cron job?"
      description={`“${job.name}” will not run again, and its occurrences that have not started are cancelled. Its runs stay in the log.`}
      action="Delete cron job"
      isDangerous
      isPending={remove.isPending}
      onConfirm={() => remove.mutate()}
    >
      {remove.error && <Problem error={remove.error} />}
    </ConfirmDialog>
  )
}
