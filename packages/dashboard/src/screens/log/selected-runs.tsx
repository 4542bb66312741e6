import type { Run } from '@belfry/contract/run'
import { RotateCcw } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { formatThings } from '../../ui/format-amount.ts'
import styles from './log.module.css'
import { ReplayRuns } from './replay-runs.tsx'

type SelectedRunsProps = {
  selected: readonly Run[]
  onClear(): void
}

/** Replays the tasks of selected runs. */
export function SelectedRuns({ selected, onClear }: SelectedRunsProps): ReactNode {
  const [isReplaying, setIsReplaying] = useState(false)
  return (
    <section className={styles.selection} aria-label="Selected runs">
      <span aria-live="polite">{formatThings(selected.length, 'run')} selected</span>
      <Button size="small" icon={<RotateCcw size={14} />} onClick={() => setIsReplaying(true)}>
        Replay selected
      </Button>
      <Button size="small" kind="quiet" onClick={onClear}>
        Clear selection
      </Button>
      {isReplaying && <ReplayRuns runs={selected} onClose={() => setIsReplaying(false)} onDone={onClear} />}
    </section>
  )
}
