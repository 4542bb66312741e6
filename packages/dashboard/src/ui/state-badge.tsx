import { Ban, Check, CircleDashed, CircleDot, CirclePause, Flag, OctagonX, RotateCw, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { Badge, type Tone } from './badge.tsx'

type Look = { tone: Tone; icon: typeof Check; label: string }

const looks = {
  pending: { tone: 'plain', icon: CircleDashed, label: 'Pending' },
  processing: { tone: 'busy', icon: CircleDot, label: 'Processing' },
  retrying: { tone: 'warn', icon: RotateCw, label: 'Retrying' },
  success: { tone: 'good', icon: Check, label: 'Success' },
  dead: { tone: 'bad', icon: OctagonX, label: 'Dead' },
  cancelled: { tone: 'plain', icon: Ban, label: 'Cancelled' },
  failed: { tone: 'bad', icon: X, label: 'Failed' },
  active: { tone: 'good', icon: CircleDot, label: 'Active' },
  paused: { tone: 'warn', icon: CirclePause, label: 'Paused' },
  ended: { tone: 'plain', icon: Flag, label: 'Ended' },
} as const satisfies Record<string, Look>

type State = keyof typeof looks

export function labelOfState(state: State): string {
  return looks[state].label
}

/** The state of a task, or the status of a run or cron job. Each has its own icon, not only its own color. */
export function StateBadge({ state }: { state: State }): ReactNode {
  const { tone, icon: Icon, label } = looks[state]
  return (
    <Badge tone={tone} icon={<Icon size={13} strokeWidth={2.4} aria-hidden="true" />}>
      {label}
    </Badge>
  )
}
