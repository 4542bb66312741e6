import type { ReactNode } from 'react'
import { resetCircuit } from '../api/delivery.ts'
import { useChange } from '../forms/use-change.ts'
import { useRefusal } from '../session/allowed.tsx'
import { useWorkspace } from '../session/scope.ts'
import { Button } from '../ui/button.tsx'

/** Closes the circuit breaker of a host, so its waiting tasks start. */
export function CloseCircuit({ host }: { host: string }): ReactNode {
  const { workspace } = useWorkspace()
  const refusal = useRefusal('host.reset')
  const { mutate, isPending } = useChange({
    run: () => resetCircuit(workspace.id, host),
    done: () => `Circuit breaker of ${host} closed`,
    affects: ['hosts', 'task', 'tasks'].map(name => [name, workspace.id]),
  })
  return (
    <Button size="small" refusal={refusal} isPending={isPending} onClick={() => mutate()}>
      Close circuit breaker
    </Button>
  )
}
