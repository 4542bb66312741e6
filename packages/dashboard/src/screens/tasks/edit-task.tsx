import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useNavigate, useParams } from 'react-router'
import { taskQuery } from '../../api/tasks.ts'
import { PageFor } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Skeleton } from '../../ui/table.tsx'
import { useToast } from '../../ui/toast.tsx'
import { TaskForm } from './task-form.tsx'

export function EditTask(): ReactNode {
  const { workspace, to } = useWorkspace()
  const { task: id = '' } = useParams()
  const client = useQueryClient()
  const navigate = useNavigate()
  const say = useToast()
  const { data: task, error, refetch } = useQuery(taskQuery(workspace.id, id))
  return (
    <>
      <PageHeader
        title="Edit task"
        description="A task can be changed until its first attempt starts."
        parent={{ label: task?.name ?? 'Task', to: to.task(id) }}
      />
      <PageFor right="task.write">
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {!task && !error && <Skeleton />}
        {task && task.state !== 'pending' && (
          <EmptyState
            title="It is too late to change this task"
            actions={<ButtonLink to={to.task(id)}>To the task</ButtonLink>}
          >
            It is {task.state}: only a pending task can be changed.
          </EmptyState>
        )}
        {task?.state === 'pending' && (
          <TaskForm
            workspaceId={workspace.id}
            task={task}
            backTo={to.task(id)}
            onDone={async saved => {
              client.setQueryData(taskQuery(workspace.id, id).queryKey, saved)
              await client.invalidateQueries({ queryKey: ['tasks', workspace.id] })
              say('The changes are saved.')
              await navigate(to.task(id))
            }}
          />
        )}
      </PageFor>
    </>
  )
}
