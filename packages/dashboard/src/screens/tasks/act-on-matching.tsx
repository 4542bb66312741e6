import { useQuery } from '@tanstack/react-query'
import { Ban, OctagonX, RotateCw } from 'lucide-react'
import { useState } from 'react'
import { type Body, call } from '../../api/call.ts'
import { queryOf } from '../../api/queries.ts'
import { ConfirmChange } from '../../forms/confirm-change.tsx'
import { useRefusal, useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import type { Filters } from '../../ui/filter-bar.tsx'
import { formatCount, formatThings } from '../../ui/format-amount.ts'
import { Problem } from '../../ui/problem.tsx'
import styles from './tasks.module.css'

const actions = {
  cancel: {
    verb: 'Cancel',
    icon: <Ban size={14} />,
    done: 'cancelled',
    states: ['pending'],
    about: 'They will not be sent. Each can be replayed later.',
  },
  stop: {
    verb: 'Stop',
    icon: <OctagonX size={14} />,
    done: 'stopped',
    states: ['retrying'],
    about: 'They are not retried any more. They become dead letters, which can be replayed.',
  },
  replay: {
    verb: 'Replay',
    icon: <RotateCw size={14} />,
    done: 'replayed',
    states: ['cancelled', 'dead'],
    about: 'Those that were not replayed yet are sent again immediately, as new tasks.',
  },
} as const

type Action = keyof typeof actions
type Filter = NonNullable<Body<'startBulkOperation'>['filter']>
type ActOnMatchingProps = { filter: Filter; states: readonly string[]; operation: Filters<'operation'> }

/** Cancels, stops or replays all tasks that match the filter of the list. It replays only tasks with a chosen reason. */
export function ActOnMatching({ filter, states, operation }: ActOnMatchingProps) {
  const mayEnd = useRefusal('task.delete') === null
  const mayReplay = useRefusal('dead_letter.replay') === null && filter.state_reason !== undefined
  const [asked, setAsked] = useState<Action | null>(null)
  if (!mayEnd && !mayReplay) return null
  const may = { cancel: mayEnd, stop: mayEnd, replay: mayReplay }
  const has = (action: Action) => states.length === 0 || actions[action].states.some(state => states.includes(state))
  const offered = (['cancel', 'stop', 'replay'] as const).filter(action => may[action] && has(action))
  return (
    <div className={styles.matching}>
      {offered.map(action => (
        <Button key={action} size="small" icon={actions[action].icon} onClick={() => setAsked(action)}>
          {`${actions[action].verb} matching ${actions[action].states.join(' or ')} tasks`}
        </Button>
      ))}
      {asked && <MatchingDialog action={asked} filter={filter} operation={operation} onClose={() => setAsked(null)} />}
    </div>
  )
}

type MatchingDialogProps = Omit<ActOnMatchingProps, 'states'> & { action: Action; onClose(): void }

function MatchingDialog({ action, filter, operation, onClose }: MatchingDialogProps) {
  const { workspace } = useWorkspace()
  const { verb, states, about, done } = actions[action]
  const found = useQuery({
    ...queryOf('countTasks', { ws: workspace.id, query: { ...filter, state: [...states] } }),
    staleTime: 'static', // the question stays while its tasks end
    gcTime: 0,
  })
  const count = found.data && `${formatCount(found.data.count)}${found.data.is_capped ? ' or more' : ''}`
  const which = Object.keys(filter).length === 0 ? 'all' : 'the matching'
  return (
    <ConfirmChange
      isOpen
      onClose={onClose}
      title={`${verb} ${count ?? which} ${states.join(' or ')} ${found.data?.count === 1 ? 'task' : 'tasks'}?`}
      description={about}
      action={`${verb} ${found.data?.count === 1 ? 'task' : 'tasks'}`}
      run={async () => {
        if (action === 'replay') {
          const started = await call('startBulkOperation', { ws: workspace.id, body: { action, filter } })
          return { count: 0, started }
        }
        const ended = await call(`${action}Tasks`, { ws: workspace.id, body: { filter } })
        return { count: 'cancelled' in ended ? ended.cancelled : ended.stopped, started: ended.operation }
      }}
      onDone={({ started }) => started && operation.set('operation', started.id)}
      done={({ count, started }) => (started ? undefined : `${formatThings(count, 'task')} ${done}`)}
    >
      {found.error && <Problem error={found.error} />}
    </ConfirmChange>
  )
}
