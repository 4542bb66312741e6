import type { Host } from '@belfry/contract/host'
import { useQuery } from '@tanstack/react-query'
import { CirclePause } from 'lucide-react'
import type { ReactNode } from 'react'
import { hostsQuery } from '../../api/delivery.ts'
import { CloseCircuit } from '../../layout/close-circuit.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Link } from '../../ui/button.tsx'
import { formatCounted } from '../../ui/format-amount.ts'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './overview.module.css'

const maxShown = 3

/** Says which hosts are not called, because their circuit breakers are open, and how many tasks wait for them. */
export function OpenCircuits(): ReactNode {
  const { workspace, to } = useWorkspace()
  const { data } = useQuery(hostsQuery(workspace.id))
  const open = data?.data.filter(({ circuit }) => circuit.state !== 'closed') ?? []
  if (open.length === 0) return null
  return (
    <section className={styles.circuits} aria-label="Open circuit breakers">
      {open.slice(0, maxShown).map(host => (
        <Circuit key={host.host} host={host} isCapped={data?.waiting_is_capped ?? false} />
      ))}
      <Link to={to.targets()}>
        {open.length > maxShown ? `${open.length - maxShown} more with an open circuit breaker` : 'All targets'}
      </Link>
    </section>
  )
}

function Circuit({ host: { host, circuit, waiting }, isCapped }: { host: Host; isCapped: boolean }): ReactNode {
  const count = formatCounted(waiting, isCapped && waiting > 0)
  return (
    <div className={styles.circuit}>
      <CirclePause size={18} aria-hidden="true" />
      <p>
        <strong>{host}</strong> is paused after too many failures: {count} {waiting === 1 ? 'task waits' : 'tasks wait'}
        .{' '}
        {circuit.state === 'open' && circuit.next_probe_at ? (
          <>
            Next probe <RelativeTime at={circuit.next_probe_at} />.
          </>
        ) : (
          'Probing now.'
        )}
      </p>
      <CloseCircuit host={host} />
    </div>
  )
}
