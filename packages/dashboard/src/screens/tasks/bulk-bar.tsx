import type { Task } from '@belfry/contract/task'
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

type BulkAction = { name: 'cancel' | 'replay'; done: string; tasks: readonly Task[]; run(task: Task): Promise<Task> }
type BulkBarProps = { workspaceId: string; selected: readonly Task[]; onDone(): void }

/** Cancels or replays the selected tasks. Each action applies to the tasks whose state allows it. */
export function BulkBar({ workspaceId, selected, onDone }: BulkBarProps): ReactNode {
  const client = useQueryClient()
  const toast = useToast()
  const [asked, setAsked] = useState<BulkAction | null>(null)
  const [doneSoFar, setDoneSoFar] = useState<number | null>(null)
  const mayNotCancel = useRefusal('task.delete')
  const mayNotReplay = useRefusal('task.write')
  if (selected.length === 0) return null
  const cancel: BulkAction = {
    name: 'cancel',
    done: 'cancelled',
    tasks: selected.filter(({ state }) => state === 'pending'),
    run: ({ id }) => cancelTask(workspaceId, id),
  }
  const replay: BulkAction = {
    name: 'replay',
    done: 'replayed',
    tasks: selected.filter(({ state }) => isTerminal(state)),
    run: ({ id }) => replayTask(workspaceId, id),
  }
  const run = async ({ tasks, run, done }: BulkAction) => {
    setDoneSoFar(0)
    const { succeeded, error } = await doEach(tasks, run, setDoneSoFar)
    setDoneSoFar(null)
    setAsked(null)
    const failed = tasks.length - succeeded
    toast(
      `${countOf(succeeded)} ${done}.${failed > 0 ? ` ${countOf(failed)} failed: ${error}` : ''}`,
      failed > 0 ? 'bad' : 'good',
    )
    onDone()
    await client.invalidateQueries({ queryKey: ['tasks', workspaceId] })
  }
  const nonePending = cancel.tasks.length === 0 ? 'None of the selected tasks is pending.' : null
  const noneFinished = replay.tasks.length === 0 ? 'None of the selected tasks has finished.' : null
  return (
    <section className={styles.bulk} aria-label="Selected tasks">
      <span aria-live="polite">{countOf(selected.length)} selected</span>
      <Button icon={<Ban size={15} />} refusal={mayNotCancel ?? nonePending} onClick={() => setAsked(cancel)}>
        Cancel {cancel.tasks.length}
      </Button>
      <Button icon={<RotateCw size={15} />} refusal={mayNotReplay ?? noneFinished} onClick={() => setAsked(replay)}>
        Replay {replay.tasks.length}
      </Button>
      <Button kind="quiet" onClick={onDone}>
        Clear selection
      </Button>
      {asked && (
        <ConfirmDialog
          isOpen
          onClose={() => doneSoFar === null && setAsked(null)}
          title={`${asked.name === 'cancel' ? 'Cancel' : 'Replay'} ${countOf(asked.tasks.length)}?`}
          description={
            asked.name === 'cancel'
              ? 'They will not be delivered. Each can be replayed later.'
              : 'Each one is sent again immediately as a new task.'
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
