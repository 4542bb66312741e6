import { Pause, Play } from 'lucide-react'
import { call } from '../api/call.ts'
import { useWorkspace } from '../session/scope.ts'
import { ChangeButton, type Look } from './change-buttons.tsx'

/** What can be paused: the right that it takes, and its operations. */
export const pausable = {
  queue: { right: 'queue.write', pause: 'pauseQueue', resume: 'resumeQueue' },
  host: { right: 'host.write', pause: 'pauseHost', resume: 'resumeHost' },
  cron_job: { right: 'cron_job.write', pause: 'pauseCronJob', resume: 'resumeCronJob' },
} as const

type PauseButtonProps = Pick<Look, 'text' | 'label'> & {
  what: keyof typeof pausable
  /** The id of a cron job. */
  id?: string
  name: string
  isPaused: boolean
}

export function PauseButton({ what, id = '', name, isPaused, ...look }: PauseButtonProps) {
  const { workspace } = useWorkspace()
  const verb = isPaused ? 'resume' : 'pause'
  const Icon = isPaused ? Play : Pause
  return (
    <ChangeButton
      label={`${isPaused ? 'Resume' : 'Pause'} ${name}`}
      icon={<Icon size={16} />}
      right={pausable[what].right}
      run={() => call(pausable[what][verb], { ws: workspace.id, queue: name, host: name, cronjob: id })}
      done={`${name} ${verb}d`}
      {...look}
    />
  )
}
