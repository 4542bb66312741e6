import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { messageOf } from '../api/api-problem.ts'
import { resetCircuit } from '../api/hosts.ts'
import { useRefusal } from '../session/allowed.tsx'
import { useWorkspace } from '../session/scope.ts'
import { Button } from '../ui/button.tsx'
import { useToast } from '../ui/toast.tsx'

/** Closes the circuit breaker of a host, so its waiting tasks start. */
export function CloseCircuit({ host }: { host: string }): ReactNode {
  const { workspace } = useWorkspace()
  const refusal = useRefusal('host.reset')
  const client = useQueryClient()
  const toast = useToast()
  const { mutate, isPending } = useMutation({
    mutationFn: () => resetCircuit(workspace.id, host),
    onSuccess: () => toast(`Circuit breaker of ${host} closed`),
    onError: error => toast(messageOf(error)),
    onSettled: () =>
      Promise.all(['hosts', 'task', 'tasks'].map(key => client.invalidateQueries({ queryKey: [key, workspace.id] }))),
  })
  return (
    <Button size="small" refusal={refusal} isPending={isPending} onClick={() => mutate()}>
      Close circuit breaker
    </Button>
  )
}
