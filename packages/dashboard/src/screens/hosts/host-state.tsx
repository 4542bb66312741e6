import type { Host } from '@belfry/contract/host'
import { Check, CirclePause, Pause, Play, RotateCw } from 'lucide-react'
import type { ReactNode } from 'react'
import { call } from '../../api/call.ts'
import { ChangeButton, type Look } from '../../layout/change-buttons.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { Link } from '../../ui/button.tsx'
import { formatCounted, formatRate } from '../../ui/format-amount.ts'
import { formatDuration } from '../../ui/format-time.ts'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './hosts.module.css'

/** Whether a host is paused, has an open circuit breaker, or fails. */
export function HostState({ host: { circuit, paused_at: pausedAt, health } }: { host: Host }): ReactNode {
  if (pausedAt !== null) return <Badge tone="warn">Paused</Badge>
  if (circuit.state === 'closed') {
    const { attempts, failed } = health.five_minutes
    if (attempts > 0 && failed * 2 >= attempts) return <Badge tone="warn">Failing</Badge>
    return (
      <Badge tone="good" icon={<Check size={13} strokeWidth={2.4} />}>
        Healthy
      </Badge>
    )
  }
  const isOpen = circuit.state === 'open'
  const Icon = isOpen ? CirclePause : RotateCw
  return (
    <Badge tone="bad" icon={<Icon size={13} strokeWidth={2.4} />}>
      {isOpen ? 'Circuit breaker open' : 'Probing'}
    </Badge>
  )
}

/** The response of the latest failed run, and when it was. */
export function LatestFailure({ host: { last_failure: last } }: { host: Host }): ReactNode {
  const { to } = useWorkspace()
  if (!last) return null
  return (
    <span className={styles.faint}>
      <Link to={to.run(last.run_id)}>{last.response_status ?? last.error_code?.replaceAll('_', ' ') ?? 'Run'}</Link>{' '}
      <RelativeTime at={last.at} />
    </span>
  )
}

export function PauseHost({ host: { host, paused_at: pausedAt }, ...look }: { host: Host } & Look): ReactNode {
  const { workspace } = useWorkspace()
  const isPaused = pausedAt !== null
  const Icon = isPaused ? Play : Pause
  return (
    <ChangeButton
      {...look}
      label={`${isPaused ? 'Resume' : 'Pause'} ${host}`}
      icon={<Icon size={16} />}
      right="host.write"
      run={() => call(isPaused ? 'resumeHost' : 'pauseHost', { ws: workspace.id, host })}
      done={isPaused ? `${host} resumed` : `${host} paused`}
    />
  )
}

/** Returns how many tasks wait for a host. */
export function waitingText({ waiting, waiting_is_capped: isCapped }: Host): string {
  return formatCounted(waiting, isCapped && waiting > 0)
}

type Health = Host['health']['hour']

export function failedText({ failed, attempts }: Health): string {
  return formatRate(failed, attempts)
}

export function averageText({ duration_ms: average }: Health): string {
  return average === null ? '–' : formatDuration(average)
}
