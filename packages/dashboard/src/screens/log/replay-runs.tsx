import type { Run } from '@belfry/contract/run'
import { useQuery } from '@tanstack/react-query'
import { RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { call, type Query } from '../../api/call.ts'
import { firstOf } from '../../api/queries.ts'
import { ConfirmChange } from '../../forms/confirm-change.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { formatCount, formatThings } from '../../ui/format-amount.ts'
import { Problem } from '../../ui/problem.tsx'
import { useToast } from '../../ui/toast.tsx'
import { maxIdsPerCall, SpeedField, settleEach } from '../dead-letters/settle-dialog.tsx'
import { doEach } from '../tasks/do-each.ts'
import styles from './log.module.css'

type ReplayRunsProps = { onClose(): void; onDone?(): void } & (
  | { runs: readonly Run[] }
  /** The matching runs of the log. */
  | { query: Query }
)

/** Asks for confirmation, then replays the tasks of runs, each once. */
export function ReplayRuns({ onClose, onDone, ...what }: ReplayRunsProps) {
  const { workspace } = useWorkspace()
  const query = 'query' in what ? what.query : null
  const matching = useQuery({
    ...firstOf('listRuns', { ws: workspace.id, query: query ?? {} }),
    enabled: query !== null,
  })
  const runs = 'runs' in what ? what.runs : matching.data?.items
  const { failed, succeeded } = tasksOf(runs ?? [])
  const [isIncluding, setIsIncluding] = useState(false)
  const [perSecond, setPerSecond] = useState(0)
  const toast = useToast()
  const again = isIncluding ? succeeded : []
  const count = failed.length + again.length
  const hasRate = failed.length > 1 && failed.length <= maxIdsPerCall
  return (
    <ConfirmChange
      isOpen
      onClose={onClose}
      title={runs ? `Replay ${formatThings(count, 'task')}?` : 'Replay the tasks of the matching runs?'}
      description="Each one is sent again as a new task with the same request and retries. Failed ones that are still retried, or were replayed already, are skipped."
      action={runs ? `Replay ${formatThings(count, 'task')}` : 'Replay'}
      isDangerous={false}
      refusal={runs && count > 0 ? null : 'There is no task to replay.'}
      run={async () => {
        const pace = hasRate && perSecond > 0 ? { per_second: perSecond } : {}
        const replayed = await settleEach(workspace.id, 'replay', failed, pace)
        const replay = (task: string) => call('replayTask', { ws: workspace.id, task, body: {} })
        const { succeeded: repeated, error } = await doEach(again, replay)
        return { done: replayed + repeated, count, error }
      }}
      onDone={({ done, count, error }) => {
        const rest = error ?? 'The others are not dead letters.'
        toast(`${done} of ${count} replayed.${done < count ? ` ${rest}` : ''}`, done > 0 ? 'good' : 'bad')
        onDone?.()
      }}
    >
      {matching.data?.hasMore && <p>Only the newest {formatCount(runs?.length ?? 0)} runs that match are read.</p>}
      {succeeded.length > 0 && (
        <Checkbox
          label={`Also replay ${formatThings(succeeded.length, 'task')} that succeeded`}
          isOn={isIncluding}
          onChange={setIsIncluding}
        />
      )}
      {hasRate && <SpeedField perSecond={perSecond} onChange={setPerSecond} count={failed.length} hasMore={false} />}
      {matching.error && <Problem error={matching.error} />}
    </ConfirmChange>
  )
}

/** Returns the tasks of runs, each once. A task that has succeeded has no later run. */
function tasksOf(runs: readonly Run[]): { failed: string[]; succeeded: string[] } {
  const succeeded = new Set(runs.filter(({ status }) => status === 'success').map(run => run.task_id))
  const all = new Set(runs.map(run => run.task_id))
  return { failed: [...all].filter(id => !succeeded.has(id)), succeeded: [...succeeded] }
}

export function SelectedRuns({ selected, onClear }: { selected: readonly Run[]; onClear(): void }) {
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
