import type { Task } from '@belfry/contract/task'
import { CirclePause } from 'lucide-react'
import type { ReactNode } from 'react'
import { CloseCircuit } from '../../layout/close-circuit.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Link } from '../../ui/button.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './tasks.module.css'

type Reason = NonNullable<Task['blocked']>

/** Says why a due task waits. */
export function Blocked({ blocked }: { blocked: Reason }): ReactNode {
  return (
    <div className={styles.blocked} role="status">
      <CirclePause size={18} aria-hidden="true" />
      <div>
        {blocked.reason === 'circuit_open' && <OpenCircuit blocked={blocked} />}
        {blocked.reason === 'host_paused' && <PausedHost blocked={blocked} />}
        {blocked.reason === 'queue' && <BlockingQueue queue={blocked.queue} />}
        {blocked.reason === 'held' && (
          <p>
            <strong>Held</strong> since the restore of a backup: it may have been delivered after the backup.
          </p>
        )}
      </div>
      {blocked.reason === 'circuit_open' && <CloseCircuit host={blocked.host} />}
    </div>
  )
}

function PausedHost({ blocked }: { blocked: Extract<Reason, { reason: 'host_paused' }> }): ReactNode {
  const { to } = useWorkspace()
  return (
    <>
      <p>
        Waiting for <strong>{blocked.host}</strong>: it was paused <RelativeTime at={blocked.since} />.
      </p>
      <p className={styles.faint}>
        <Link to={to.host(blocked.host)}>Host</Link>
      </p>
    </>
  )
}

function BlockingQueue({ queue }: { queue: string }): ReactNode {
  const { to } = useWorkspace()
  return (
    <>
      <p>
        Waiting for the queue <strong>{queue}</strong>: it is paused or at its limit.
      </p>
      <p className={styles.faint}>
        <Link to={to.queues()}>Queues</Link>
      </p>
    </>
  )
}

function OpenCircuit({ blocked }: { blocked: Extract<Reason, { reason: 'circuit_open' }> }): ReactNode {
  const { to } = useWorkspace()
  const isOpen = Date.parse(blocked.next_probe_at) > Date.now()
  return (
    <>
      <p>
        Waiting for <strong>{blocked.host}</strong>: too many calls failed, so its circuit breaker is open.
      </p>
      <p className={styles.faint}>
        {isOpen ? (
          <>
            Next probe <RelativeTime at={blocked.next_probe_at} />
          </>
        ) : (
          'Probing now'
        )}
        {' · '}
        <Link to={to.host(blocked.host)}>Host</Link>
      </p>
    </>
  )
}
