import { call } from '../api/call.ts'
import { useWorkspace } from '../session/scope.ts'
import { ChangeButton } from './change-buttons.tsx'

/** Closes the circuit breaker of a host, so its waiting tasks start. */
export function CloseCircuit({ host }: { host: string }) {
  const { workspace } = useWorkspace()
  return (
    <ChangeButton
      text="Close circuit breaker"
      size="small"
      right="host.reset"
      run={() => call('resetCircuit', { ws: workspace.id, host })}
      done={`Circuit breaker of ${host} closed`}
    />
  )
}
