import { RotateCcw } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { formatThings } from '../../ui/format-amount.ts'
import { useToast } from '../../ui/toast.tsx'
import { SettleDialog } from '../dead-letters/settle-dialog.tsx'
import styles from './log.module.css'

type SelectedRunsProps = {
  /** The tasks of the runs, by the ids of the runs. */
  selected: ReadonlyMap<string, string>
  onClear(): void
}

/** Replays the tasks of selected runs. */
export function SelectedRuns({ selected, onClear }: SelectedRunsProps): ReactNode {
  const [isReplaying, setIsReplaying] = useState(false)
  const toast = useToast()
  const ids = [...new Set(selected.values())]
  return (
    <section className={styles.selection} aria-label="Selected runs">
      <span aria-live="polite">{formatThings(selected.size, 'run')} selected</span>
      <Button size="small" icon={<RotateCcw size={14} />} onClick={() => setIsReplaying(true)}>
        Replay {formatThings(ids.length, 'task')}
      </Button>
      <Button size="small" kind="quiet" onClick={onClear}>
        Clear selection
      </Button>
      {isReplaying && (
        <SettleDialog
          settlement={{ action: 'replay', ids }}
          onClose={() => setIsReplaying(false)}
          onDone={({ count }) => {
            onClear()
            const skipped = ids.length - count
            toast(
              `${count} of ${ids.length} replayed.${skipped > 0 ? ' The others are not dead letters.' : ''}`,
              count > 0 ? 'good' : 'bad',
            )
          }}
        />
      )}
    </section>
  )
}
