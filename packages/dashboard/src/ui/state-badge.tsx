import { Ban, Check, CircleDashed, CircleDot, CirclePause, Flag, OctagonX, RotateCw, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { Badge, type Tone } from './badge.tsx'
import { wordsOf } from './words-of.ts'

type Look = { tone: Tone; icon: typeof Check }

const looks = {
  pending: { tone: 'plain', icon: CircleDashed },
  processing: { tone: 'busy', icon: CircleDot },
  retrying: { tone: 'warn', icon: RotateCw },
  success: { tone: 'good', icon: Check },
  dead: { tone: 'bad', icon: OctagonX },
  cancelled: { tone: 'plain', icon: Ban },
  failed: { tone: 'bad', icon: X },
  active: { tone: 'good', icon: CircleDot },
  paused: { tone: 'warn', icon: CirclePause },
  ended: { tone: 'plain', icon: Flag },
} as const satisfies Record<string, Look>

/** The state of a task, or the status of a run or cron job. Each has its own icon, not only its own color. */
export function StateBadge({ state }: { state: keyof typeof looks }): ReactNode {
  const { tone, icon: Icon } = looks[state]
  return (
    <Badge tone={tone} icon={<Icon size={13} strokeWidth={2.4} aria-hidden="true" />}>
      {wordsOf(state)}
    </Badge>
  )
}
