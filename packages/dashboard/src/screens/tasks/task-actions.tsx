import type { Task } from '@belfry/contract/task'
import { isTerminal } from '@belfry/domain/task-state'
import { Ban, CopyPlus, Pencil, PencilLine, RotateCw } from 'lucide-react'
import type { ReactNode } from 'react'
import { useNavigate } from 'react-router'
import { call } from '../../api/call.ts'
import { ChangeButton, ConfirmButton } from '../../layout/change-buttons.tsx'
import type { WorkspacePaths } from '../../paths.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { ButtonLink } from '../../ui/button.tsx'

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
        <EndButton workspaceId={workspaceId} task={task} {...cancelling} />
      </>
    )
  }
  return (
    <>
      {duplicate}
      {task.state === 'retrying' && <EndButton workspaceId={workspaceId} task={task} {...stopping} />}
      {isTerminal(task.state) && (
        <>
          <ButtonLink to={to.replayTask(task.id)} icon={<PencilLine size={15} />} refusal={mayNotWrite}>
            Replay with changes
          </ButtonLink>
          <ReplayButton workspaceId={workspaceId} task={task} to={to} />
        </>
      )}
    </>
  )
}

const cancelling = {
  operation: 'cancelTask',
  label: 'Cancel task',
  question: 'Cancel this task?',
  about: 'will not be delivered. It can be replayed later.',
  done: 'Task cancelled',
} as const

const stopping = {
  operation: 'stopTask',
  label: 'Stop retries',
  question: 'Stop this task?',
  about: 'is not retried any more. It becomes a dead letter and can be replayed.',
  done: 'Task stopped',
} as const

type EndButtonProps = Omit<TaskActionsProps, 'to'> & (typeof cancelling | typeof stopping)

function EndButton({ workspaceId, task, operation, label, question, about, done }: EndButtonProps): ReactNode {
  return (
    <ConfirmButton
      text={label}
      kind="danger"
      icon={<Ban size={15} />}
      right="task.delete"
      title={question}
      description={`“${task.name}” ${about}`}
      action={`Yes, ${label.toLowerCase()}`}
      run={() => call(operation, { ws: workspaceId, task: task.id })}
      done={done}
    />
  )
}

function ReplayButton({ workspaceId, task, to }: TaskActionsProps): ReactNode {
  const navigate = useNavigate()
  return (
    <ChangeButton
      text="Replay"
      icon={<RotateCw size={15} />}
      right="task.write"
      run={() => call('replayTask', { ws: workspaceId, task: task.id, body: {} })}
      onDone={again => navigate(to.task(again.id))}
      done="Replayed as a new task"
    />
  )
}
