import type { Task } from '@belfry/contract/task'
import { CirclePause } from 'lucide-react'
import type { ReactNode } from 'react'
import { CloseCircuit } from '../../layout/close-circuit.tsx'
import type { WorkspacePaths } from '../../paths.ts'
import { useWorkspace } from '../../session/scope.ts'
import { Link } from '../../ui/button.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './tasks.module.css'

type Reason = NonNullable<Task['blocked']>

/** Says why a due task waits. */
export function Blocked({ blocked }: { blocked: Reason }): ReactNode {
  const { to } = useWorkspace()
  return (
    <div className={styles.blocked} role="status">
      <CirclePause size={18} />
      <div>{textOf(blocked, to)}</div>
      {blocked.reason === 'circuit_open' && <CloseCircuit host={blocked.host} />}
    </div>
  )
}

function textOf(blocked: Reason, to: WorkspacePaths): ReactNode {
  switch (blocked.reason) {
    case 'circuit_open':
      return (
        <p>
          Waiting for <Link to={to.host(blocked.host)}>{blocked.host}</Link>: too many calls failed, so its circuit
          breaker is open.{' '}
          {Date.parse(blocked.next_probe_at) > Date.now() ? (
            <>
              Next probe <RelativeTime at={blocked.next_probe_at} />.
            </>
          ) : (
            'Probing now.'
          )}
        </p>
      )
    case 'host_paused':
      return (
        <p>
          Waiting for <Link to={to.host(blocked.host)}>{blocked.host}</Link>: it was paused{' '}
          <RelativeTime at={blocked.since} />.
        </p>
      )
    case 'queue':
      return (
        <p>
          Waiting for the queue <Link to={to.queues()}>{blocked.queue}</Link>: it is paused or at its limit.
        </p>
      )
    case 'held':
      return (
        <p>
          <strong>Held</strong> since the restore of a backup: it may have been delivered after the backup.
        </p>
      )
  }
}
