import type { Task } from '@belfry/contract/task'
import { isTerminal } from '@belfry/domain/task-state'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Ban, CopyPlus, Pencil, RotateCw } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useNavigate } from 'react-router'
import { cancelTask, replayTask, stopTask, taskQuery } from '../../api/tasks.ts'
import type { WorkspacePaths } from '../../paths.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Problem } from '../../ui/problem.tsx'
import { useToast } from '../../ui/toast.tsx'

type TaskActionsProps = { workspaceId: string; task: Task; to: WorkspacePaths }

/** The actions that the state of a task allows. */
export function TaskActions({ workspaceId, task, to }: TaskActionsProps): ReactNode {
  const mayNotWrite = useRefusal('task.write')
  const duplicate = (
    <ButtonLink to={to.newTask(task.id)} icon={<CopyPlus size={15} />} refusal={mayNotWrite}>
      Duplicate
    </ButtonLink>
  )
  if (task.state === 'pending') {
    return (
      <>
        <ButtonLink to={to.editTask(task.id)} icon={<Pencil size={15} />} refusal={mayNotWrite}>
          Edit
        </ButtonLink>
        {duplicate}
        <CancelButton workspaceId={workspaceId} task={task} />
      </>
    )
  }
  return (
    <>
      {duplicate}
      {task.state === 'retrying' && <StopButton workspaceId={workspaceId} task={task} />}
      {isTerminal(task.state) && <ReplayButton workspaceId={workspaceId} task={task} to={to} />}
    </>
  )
}

function CancelButton(props: Omit<TaskActionsProps, 'to'>): ReactNode {
  return (
    <EndButton
      {...props}
      run={cancelTask}
      label="Cancel task"
      question="Cancel this task?"
      about={`“${props.task.name}” will not be delivered. It can be replayed later.`}
      done="Task cancelled"
    />
  )
}

function StopButton(props: Omit<TaskActionsProps, 'to'>): ReactNode {
  return (
    <EndButton
      {...props}
      run={stopTask}
      label="Stop retries"
      question="Stop this task?"
      about={`“${props.task.name}” is not retried any more. It becomes a dead letter and can be replayed.`}
      done="Task stopped"
    />
  )
}

type EndButtonProps = Omit<TaskActionsProps, 'to'> & {
  run(workspaceId: string, taskId: string): Promise<Task>
  label: string
  question: string
  about: string
  done: string
}

function EndButton({ workspaceId, task, run, label, question, about, done }: EndButtonProps): ReactNode {
  const client = useQueryClient()
  const toast = useToast()
  const refusal = useRefusal('task.delete')
  const [isAsking, setIsAsking] = useState(false)
  const ending = useMutation({
    mutationFn: () => run(workspaceId, task.id),
    onSuccess(ended) {
      client.setQueryData(taskQuery(workspaceId, task.id).queryKey, ended)
      setIsAsking(false)
      toast(done)
    },
    // After an error too: the task may have started in the meantime.
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ['task', workspaceId, task.id] }),
        client.invalidateQueries({ queryKey: ['tasks', workspaceId] }),
      ]),
  })
  return (
    <>
      <Button kind="danger" icon={<Ban size={15} />} refusal={refusal} onClick={() => setIsAsking(true)}>
        {label}
      </Button>
      <ConfirmDialog
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title={question}
        description={about}
        action={`Yes, ${label.toLowerCase()}`}
        isDangerous
        isPending={ending.isPending}
        onConfirm={() => ending.mutate()}
      >
        {ending.error && <Problem error={ending.error} />}
      </ConfirmDialog>
    </>
  )
}

function ReplayButton({ workspaceId, task, to }: TaskActionsProps): ReactNode {
  const client = useQueryClient()
  const navigate = useNavigate()
  const toast = useToast()
  const refusal = useRefusal('task.write')
  const replay = useMutation({
    mutationFn: () => replayTask(workspaceId, task.id),
    onSuccess: async again => {
      await client.invalidateQueries({ queryKey: ['tasks', workspaceId] })
      toast('Replayed as a new task')
      await navigate(to.task(again.id))
    },
    onError: error => toast(error.message, 'bad'),
  })
  return (
    <Button
      icon={<RotateCw size={15} />}
      refusal={refusal}
      isPending={replay.isPending}
      onClick={() => replay.mutate()}
    >
      Replay
    </Button>
  )
}
