import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useNavigate } from 'react-router'
import { PageFor } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { useToast } from '../../ui/toast.tsx'
import { TaskForm } from './task-form.tsx'

export function NewTask(): ReactNode {
  const { workspace, to } = useWorkspace()
  const client = useQueryClient()
  const navigate = useNavigate()
  const say = useToast()
  return (
    <>
      <PageHeader
        title="New task"
        description="One request, sent once at its time, and again if it fails."
        parent={{ label: 'Tasks', to: to.tasks() }}
      />
      <PageFor right="task.write">
        <TaskForm
          workspaceId={workspace.id}
          backTo={to.tasks()}
          onDone={async task => {
            await client.invalidateQueries({ queryKey: ['tasks', workspace.id] })
            say(`“${task.name}” is scheduled.`)
            await navigate(to.task(task.id))
          }}
        />
      </PageFor>
    </>
  )
}
