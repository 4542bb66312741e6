import type { Task } from '@belfry/contract'
import { isTerminal } from '@belfry/domain/task-state'
import { useQueryClient } from '@tanstack/react-query'
import { Ban, RotateCw } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { cancelTask, replayTask } from '../../api/tasks.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { useToast } from '../../ui/toast.tsx'
import { doEach } from './do-each.ts'
import styles from './tasks.module.css'

type Deed = { name: 'cancel' | 'replay'; done: string; tasks: readonly Task[]; run(task: Task): Promise<Task> }
type BulkBarProps = { workspaceId: string; selected: readonly Task[]; onDone(): void }

/** What can be done with the chosen tasks at once: to each, that which its state allows. */
export function BulkBar({ workspaceId, selected, onDone }: BulkBarProps): ReactNode {
  const client = useQueryClient()
  const say = useToast()
  const [asked, setAsked] = useState<Deed | null>(null)
  const [doneSoFar, setDoneSoFar] = useState<number | null>(null)
  const mayNotCancel = useRefusal('task.delete')
  const mayNotReplay = useRefusal('task.write')
  if (selected.length === 0) return null
  const cancel: Deed = {
    name: 'cancel',
    done: 'cancelled',
    tasks: selected.filter(({ state }) => state === 'pending'),
    run: ({ id }) => cancelTask(workspaceId, id),
  }
  const replay: Deed = {
    name: 'replay',
    done: 'replayed',
    tasks: selected.filter(({ state }) => isTerminal(state)),
    run: ({ id }) => replayTask(workspaceId, id),
  }
  const run = async ({ tasks, run, done }: Deed) => {
    setDoneSoFar(0)
    const { succeeded, refusal } = await doEach(tasks, run, setDoneSoFar)
    setDoneSoFar(null)
    setAsked(null)
    const rest = tasks.length - succeeded
    say(
      `${countOf(succeeded)} ${done}.${rest > 0 ? ` ${countOf(rest)} could not be: ${refusal}` : ''}`,
      rest > 0 ? 'bad' : 'good',
    )
    onDone()
    await client.invalidateQueries({ queryKey: ['tasks', workspaceId] })
  }
  const noPending = cancel.tasks.length === 0 ? 'None of the chosen tasks is pending.' : null
  const noneEnded = replay.tasks.length === 0 ? 'None of the chosen tasks has ended.' : null
  return (
    <section className={styles.bulk} aria-label="Chosen tasks">
      <span aria-live="polite">{countOf(selected.length)} chosen</span>
      <Button icon={<Ban size={15} />} refusal={mayNotCancel ?? noPending} onClick={() => setAsked(cancel)}>
        Cancel {cancel.tasks.length}
      </Button>
      <Button icon={<RotateCw size={15} />} refusal={mayNotReplay ?? noneEnded} onClick={() => setAsked(replay)}>
        Replay {replay.tasks.length}
      </Button>
      <Button kind="quiet" onClick={onDone}>
        Choose none
      </Button>
      {asked && (
        <ConfirmDialog
          isOpen
          onClose={() => doneSoFar === null && setAsked(null)}
          title={`${asked.name === 'cancel' ? 'Cancel' : 'Replay'} ${countOf(asked.tasks.length)}?`}
          description={
            asked.name === 'cancel'
              ? 'They will not be dispatched. Each can be replayed later.'
              : 'Each is sent again at once, as a new task.'
          }
          action={doneSoFar === null ? `Yes, ${asked.name}` : `${doneSoFar} of ${asked.tasks.length}…`}
          isDangerous={asked.name === 'cancel'}
          isPending={doneSoFar !== null}
          onConfirm={() => void run(asked)}
        />
      )}
    </section>
  )
}

function countOf(count: number): string {
  return count === 1 ? '1 task' : `${count} tasks`
}
