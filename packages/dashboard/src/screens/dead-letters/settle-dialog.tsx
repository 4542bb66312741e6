import type { DeadLetterOperation } from '@belfry/contract/bulk-operation'
import type { Page } from '@belfry/contract/page'
import type { Task } from '@belfry/contract/task'
import { requestHost } from '@belfry/domain/run-filter'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { type Body, call, read } from '../../api/call.ts'
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

/** Selects dead letters by id, or all that match a filter. */
type Selection = { ids: string[] } | { filter: DeadLetterFilter }

export type Settlement = { action: 'replay' | 'discard' } & Selection & {
    /** The chosen dead letters, with `ids`. Without them, the ids may be those of other tasks. */
    chosen?: readonly Task[]
  }

/** `per_second`: how many replays are due per second, instead of all at once. */
type Pace = Pick<Body<'replayDeadLetters'>, 'per_second'>

/** How many were settled immediately, and the background operation that settles the rest. */
type Settled = { count: number; operation: DeadLetterOperation | null }

// The limit of the API.
const maxIdsPerCall = 100

// As many as show whether a target works again.
const probeSize = 5
const maxHosts = 4

const rates = [0, 1, 5, 10, 50, 100, 500].map(rate => {
  return { value: rate, label: rate === 0 ? 'All at once' : `${rate} per second` }
})

type SettleDialogProps = { settlement: Settlement; onClose(): void; onDone(settled: Settled): unknown }

/** Asks for confirmation, then replays or discards dead letters. */
export function SettleDialog({ settlement, onClose, onDone }: SettleDialogProps): ReactNode {
  const { workspace } = useWorkspace()
  const filter = 'filter' in settlement ? settlement.filter : null
  const all = useQuery({ ...deadLettersToSettle(workspace.id, filter ?? {}), enabled: filter !== null })
  const tasks = settlement.chosen ?? all.data?.tasks
  const { mutate, isPending, error } = useChange({
    run: ({ pace, ...what }: Settlement & { pace?: Pace }) => settle(workspace.id, what, pace),
    onDone,
    onError: () => {}, // the dialog shows it
  })
  const [perSecond, setPerSecond] = useState(0)
  const isReplay = settlement.action === 'replay'
  // A rate holds within a call.
  const hasRate = isReplay && (filter !== null || (tasks?.length ?? 0) <= maxIdsPerCall)
  const verb = isReplay ? 'Replay' : 'Discard'
  const mayHaveOthers = 'ids' in settlement && settlement.chosen === undefined
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`${verb} ${nameOf(settlement, tasks?.length, all.data?.hasMore ?? false)}?`}
      description={
        isReplay
          ? `Each one is sent again as a new task with the same request and retries.${mayHaveOthers ? ' Tasks that succeeded, or may still be retried, are skipped.' : ''}`
          : 'They are removed from this list for good and will not be sent. The tasks and their runs are kept.'
      }
      action={verb}
      isDangerous={!isReplay}
      isPending={isPending}
      onConfirm={() => mutate({ ...settlement, pace: perSecond > 0 ? { per_second: perSecond } : {} })}
    >
      {tasks && <Hosts tasks={tasks} />}
      {hasRate && (
        <SelectField
          label="Speed"
          hint={hintOf(perSecond, tasks?.length, all.data?.hasMore ?? false)}
          value={perSecond}
          onChange={event => setPerSecond(Number(event.target.value))}
          options={rates}
        />
      )}
      {isReplay && tasks && tasks.length > probeSize && (
        <p className={styles.probe}>
          <span>Is the target working again?</span>
          <Button
            isPending={isPending}
            onClick={() => mutate({ action: 'replay', ids: tasks.slice(0, probeSize).map(({ id }) => id) })}
          >
            Replay {probeSize} as a test
          </Button>
        </p>
      )}
      {error && <Problem error={error} />}
    </ConfirmDialog>
  )
}

function hintOf(perSecond: number, count: number | undefined, hasMore: boolean): string | undefined {
  if (perSecond === 0 || count === undefined || count === 0) return undefined
  return `Takes ${hasMore ? 'more than ' : ''}${formatDuration((count / perSecond) * 1000)}, without retries.`
}

function nameOf(settlement: Settlement, count: number | undefined, hasMore: boolean): string {
  if ('ids' in settlement) {
    return formatThings(settlement.ids.length, settlement.chosen === undefined ? 'task' : 'dead letter')
  }
  if (count !== undefined && !hasMore) return formatThings(count, 'dead letter')
  const which = Object.keys(settlement.filter).length === 0 ? 'all' : 'all matching'
  return count === undefined ? `${which} dead letters` : `${which} dead letters (more than ${formatCount(count)})`
}

/** Shows how many dead letters each host has. */
function Hosts({ tasks }: { tasks: readonly Task[] }): ReactNode {
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

// Pages of 100 that a confirmation reads to show what it is about.
const maxPages = 10

/** Queries the dead letters that a filter selects, up to 1,000. */
function deadLettersToSettle(ws: string, filter: DeadLetterFilter) {
  return queryOptions({
    queryKey: ['listDeadLetters', ws, 'to settle', filter],
    async queryFn({ signal }) {
      const tasks: Task[] = []
      let cursor: string | null = null
      for (let reads = 0; reads < maxPages; reads += 1) {
        const query = { ...filter, limit: 100, cursor }
        const page: Page<Task> = await read('listDeadLetters', { ws, query, signal })
        tasks.push(...page.data)
        cursor = page.next_cursor
        if (cursor === null) break
      }
      return { tasks, hasMore: cursor !== null }
    },
    staleTime: 'static', // the question stays while they are settled
    gcTime: 0,
  })
}

async function settle(ws: string, { action, chosen: _, ...choice }: Settlement, pace: Pace = {}): Promise<Settled> {
  if ('filter' in choice) return settleSome(ws, action, { ...choice, ...pace })
  let count = 0
  for (let at = 0; at < choice.ids.length; at += maxIdsPerCall) {
    const ids = choice.ids.slice(at, at + maxIdsPerCall)
    count += (await settleSome(ws, action, { ids, ...pace })).count
  }
  return { count, operation: null }
}

async function settleSome(ws: string, action: Settlement['action'], body: Selection & Pace): Promise<Settled> {
  const settled = await call(`${action}DeadLetters`, { ws, body })
  return { count: 'replayed' in settled ? settled.replayed : settled.discarded, operation: settled.operation }
}
