import type { DeadLetterOperation } from '@belfry/contract/bulk-operation'
import type { Task } from '@belfry/contract/task'
import { requestHost } from '@belfry/domain/run-filter'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Body, call } from '../../api/call.ts'
import { firstOf } from '../../api/queries.ts'
import { useChange } from '../../forms/use-change.ts'
import { useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { SelectField } from '../../ui/field.tsx'
import { formatCount, formatThings } from '../../ui/format-amount.ts'
import { formatDuration } from '../../ui/format-time.ts'
import { Problem } from '../../ui/problem.tsx'
import styles from './dead-letters.module.css'

export type DeadLetterFilter = NonNullable<Body<'replayDeadLetters'>['filter']>

/** What to do with chosen dead letters, or with all that match a filter. */
export type Settlement = { action: 'replay' | 'discard' } & ({ chosen: readonly Task[] } | { filter: DeadLetterFilter })

/** `per_second`: how many replays are due per second, instead of all at once. */
type Pace = Pick<Body<'replayDeadLetters'>, 'per_second'>

/** How many were settled immediately, and the background operation that settles the rest. */
type Settled = { count: number; operation: DeadLetterOperation | null }

/** The limit of the API. A rate holds within a call. */
export const maxIdsPerCall = 100

// As many as show whether a target works again.
const probeSize = 5
const maxHosts = 4

const rates = [0, 1, 5, 10, 50, 100, 500].map(rate => {
  return { value: rate, label: rate === 0 ? 'All at once' : `${rate} per second` }
})

type SettleDialogProps = { settlement: Settlement; onClose(): void; onDone(settled: Settled): unknown }

export function SettleDialog({ settlement, onClose, onDone }: SettleDialogProps) {
  const { workspace } = useWorkspace()
  const filter = 'filter' in settlement ? settlement.filter : null
  const all = useQuery({
    ...firstOf('listDeadLetters', { ws: workspace.id, query: filter ?? {} }),
    enabled: filter !== null,
  })
  const tasks = 'chosen' in settlement ? settlement.chosen : all.data?.items
  const hasMore = all.data?.hasMore ?? false
  const { mutate, isPending, error } = useChange({
    run: ({ pace = {}, ...what }: Settlement & { pace?: Pace }) => settle(workspace.id, what, pace),
    onDone,
    onError: () => {}, // the dialog shows it
  })
  const [perSecond, setPerSecond] = useState(0)
  const isReplay = settlement.action === 'replay'
  const hasRate = isReplay && (filter !== null || (tasks?.length ?? 0) <= maxIdsPerCall)
  const verb = isReplay ? 'Replay' : 'Discard'
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`${verb} ${nameOf(settlement, tasks?.length, hasMore)}?`}
      description={
        isReplay
          ? 'Each one is sent again as a new task with the same request and retries.'
          : 'They are removed from this list for good and will not be sent. The tasks and their runs are kept.'
      }
      action={verb}
      isDangerous={!isReplay}
      isPending={isPending}
      onConfirm={() => mutate({ ...settlement, pace: perSecond > 0 ? { per_second: perSecond } : {} })}
    >
      {tasks && <Hosts tasks={tasks} />}
      {hasRate && <SpeedField perSecond={perSecond} onChange={setPerSecond} count={tasks?.length} hasMore={hasMore} />}
      {isReplay && tasks && tasks.length > probeSize && (
        <p className={styles.probe}>
          <span>Is the target working again?</span>
          <Button isPending={isPending} onClick={() => mutate({ action: 'replay', chosen: tasks.slice(0, probeSize) })}>
            Replay {probeSize} as a test
          </Button>
        </p>
      )}
      {error && <Problem error={error} />}
    </ConfirmDialog>
  )
}

type SpeedFieldProps = {
  perSecond: number
  onChange(perSecond: number): void
  count: number | undefined
  hasMore: boolean
}

export function SpeedField({ perSecond, onChange, count, hasMore }: SpeedFieldProps) {
  return (
    <SelectField
      label="Speed"
      hint={hintOf(perSecond, count, hasMore)}
      value={perSecond}
      onChange={event => onChange(Number(event.target.value))}
      options={rates}
    />
  )
}

function hintOf(perSecond: number, count: number | undefined, hasMore: boolean): string | undefined {
  if (perSecond === 0 || count === undefined || count === 0) return undefined
  return `Takes ${hasMore ? 'more than ' : ''}${formatDuration((count / perSecond) * 1000)}, without retries.`
}

function nameOf(settlement: Settlement, count: number | undefined, hasMore: boolean): string {
  if ('chosen' in settlement) return formatThings(settlement.chosen.length, 'dead letter')
  if (count !== undefined && !hasMore) return formatThings(count, 'dead letter')
  const which = Object.keys(settlement.filter).length === 0 ? 'all' : 'all matching'
  return count === undefined ? `${which} dead letters` : `${which} dead letters (more than ${formatCount(count)})`
}

function Hosts({ tasks }: { tasks: readonly Task[] }) {
  const counts = new Map<string, number>()
  for (const { url } of tasks) counts.set(requestHost(url), (counts.get(requestHost(url)) ?? 0) + 1)
  const hosts = [...counts].sort(([, a], [, b]) => b - a)
  return (
    <ul className={styles.hostCounts} aria-label="Hosts">
      {hosts.slice(0, maxHosts).map(([host, count]) => (
        <li key={host}>
          <bdi>{host}</bdi> <span>{formatCount(count)}</span>
        </li>
      ))}
      {hosts.length > maxHosts && <li>and {hosts.length - maxHosts} more hosts</li>}
    </ul>
  )
}

async function settle(ws: string, { action, ...choice }: Settlement, pace: Pace): Promise<Settled> {
  if ('filter' in choice) return settleSome(ws, action, { ...choice, ...pace })
  const ids = choice.chosen.map(({ id }) => id)
  return { count: await settleEach(ws, action, ids, pace), operation: null }
}

/** Replays or discards dead letters, skips other tasks, and returns how many there were. */
export async function settleEach(ws: string, action: Settlement['action'], ids: readonly string[], pace: Pace) {
  let count = 0
  for (let at = 0; at < ids.length; at += maxIdsPerCall) {
    count += (await settleSome(ws, action, { ids: ids.slice(at, at + maxIdsPerCall), ...pace })).count
  }
  return count
}

type Selection = { ids: string[] } | { filter: DeadLetterFilter }

async function settleSome(ws: string, action: Settlement['action'], body: Selection & Pace): Promise<Settled> {
  const settled = await call(`${action}DeadLetters`, { ws, body })
  return { count: 'replayed' in settled ? settled.replayed : settled.discarded, operation: settled.operation }
}
