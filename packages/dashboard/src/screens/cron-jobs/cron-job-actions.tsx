import type { CronJob } from '@belfry/contract/cron-job'
import { CopyPlus, Ellipsis, History, Pause, Pencil, Play, Trash2, Zap } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useNavigate } from 'react-router'
import { call } from '../../api/call.ts'
import { ConfirmChange } from '../../forms/confirm-change.tsx'
import { ChangeButton } from '../../layout/change-buttons.tsx'
import type { WorkspacePaths } from '../../paths.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { ButtonLink, IconButton } from '../../ui/button.tsx'
import { latePart } from '../../ui/late-part.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'

type CronJobActionsProps = { workspaceId: string; job: CronJob; to: WorkspacePaths }

/** The actions of a cron job. */
export function CronJobActions(props: CronJobActionsProps): ReactNode {
  const { job, to } = props
  const mayNotWrite = useRefusal('cron_job.write')
  const mayNotDelete = useRefusal('cron_job.delete')
  const [isDeleting, setIsDeleting] = useState(false)
  const [isBackfilling, setIsBackfilling] = useState(false)
  return (
    <>
      <TriggerButton {...props} />
      {job.status !== 'ended' && <PauseButton {...props} />}
      <ButtonLink to={to.editCronJob(job.id)} icon={<Pencil size={15} />} refusal={mayNotWrite}>
        Edit
      </ButtonLink>
      <Menu align="end" trigger={<IconButton kind="secondary" label="More" icon={<Ellipsis size={16} />} />}>
        <MenuItem icon={<CopyPlus size={15} />} to={to.newCronJob(job.id)} refusal={mayNotWrite}>
          Duplicate
        </MenuItem>
        <MenuItem icon={<History size={15} />} refusal={mayNotWrite} onSelect={() => setIsBackfilling(true)}>
          Run for a past time
        </MenuItem>
        <MenuItem icon={<Trash2 size={15} />} isDangerous refusal={mayNotDelete} onSelect={() => setIsDeleting(true)}>
          Delete
        </MenuItem>
      </Menu>
      <DeleteDialog {...props} isOpen={isDeleting} onClose={() => setIsDeleting(false)} />
      {isBackfilling && <BackfillDialog job={job} onClose={() => setIsBackfilling(false)} />}
    </>
  )
}

const BackfillDialog = latePart(async () => (await import('./backfill-dialog.tsx')).BackfillDialog)

function TriggerButton({ workspaceId, job, to }: CronJobActionsProps): ReactNode {
  const navigate = useNavigate()
  return (
    <ChangeButton
      text="Trigger now"
      icon={<Zap size={15} />}
      right="cron_job.write"
      run={() => call('triggerCronJob', { ws: workspaceId, cronjob: job.id })}
      onDone={task => navigate(to.task(task.id))}
      done="Triggered as a new task"
    />
  )
}

function PauseButton({ workspaceId, job }: CronJobActionsProps): ReactNode {
  const isPaused = job.status === 'paused'
  return (
    <ChangeButton
      text={isPaused ? 'Resume' : 'Pause'}
      icon={isPaused ? <Play size={15} /> : <Pause size={15} />}
      right="cron_job.write"
      run={() => call(isPaused ? 'resumeCronJob' : 'pauseCronJob', { ws: workspaceId, cronjob: job.id })}
    />
  )
}

type DeleteDialogProps = CronJobActionsProps & { isOpen: boolean; onClose(): void }

function DeleteDialog({ workspaceId, job, to, isOpen, onClose }: DeleteDialogProps): ReactNode {
  const navigate = useNavigate()
  return (
    <ConfirmChange
      isOpen={isOpen}
      onClose={onClose}
      title="Delete this cron job?"
      description={`“${job.name}” will not run again, and its occurrences that have not started are cancelled. Its runs stay in the log.`}
      action="Delete cron job"
      run={() => call('deleteCronJob', { ws: workspaceId, cronjob: job.id })}
      leaves
      onDone={() => navigate(to.cronJobs())}
      done="Cron job deleted"
    />
  )
}
