import { Ban, Check, CircleDashed, CircleDot, CirclePause, Flag, OctagonX, RotateCw, X } from 'lucide-react'
import { Badge } from './badge.tsx'
import { wordsOf } from './words-of.ts'

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
  healthy: { tone: 'good', icon: Check },
  failing: { tone: 'warn', icon: X },
  circuit_breaker_open: { tone: 'bad', icon: CirclePause },
  probing: { tone: 'bad', icon: RotateCw },
} as const

/** The state of a task or host, or the status of a run or cron job. Each has an icon and a word, not only a color. */
export function StateBadge({ state }: { state: keyof typeof looks }) {
  const { tone, icon: Icon } = looks[state]
  return (
    <Badge tone={tone} icon={<Icon size={13} strokeWidth={2.4} />}>
      {wordsOf(state)}
    </Badge>
  )
}
